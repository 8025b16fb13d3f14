# mypy: disallow-untyped-defs=False, disallow-untyped-calls=False
# ruff: noqa: B007, E701, E702
"""The ten everyday functions that every tool for loops is asked, as they were asked."""

from __future__ import annotations

import numpy as np

from tests.corpora.entry import Cases

case = Cases()

# fmt: off
N=5; T=3
X=np.array([1.1,0.7,1.3,0.9,1.2]); IDX=np.array([0,2,2,1,0],dtype=np.int32)
def k1(x):                      # running product
    p=1.0
    for i in range(N): p=p*x[i]
    return p
def k2(x):                      # nonlinear use of an accumulator after the loop
    s=0.5
    for i in range(N): s=s+x[i]
    return s*s
def k3(x):                      # in-place stencil time stepping (overwrites)
    u=x.copy()
    for t in range(T):
        for i in range(1,N-1): u[i]=u[i]*(0.3*u[i-1]+0.4*u[i+1])
    return u.sum()
def k4(x):                      # triangular nest
    s=0.0
    for i in range(N):
        for j in range(i): s=s+x[i]*x[j]*x[j]
    return s
def k5(x):                      # max with continue
    m=-1e9
    for i in range(N):
        if x[i]<0.8: continue
        v=x[i]*(i+1)
        if v>m: m=v
    return m*m
def k6(x):                      # while loop, data dependent
    v=x[0]
    while v<10.0: v=v*1.5+0.1*v*v
    return v
def k7(x):                      # break
    s=0.0
    for i in range(N):
        s=s+x[i]*x[i]*(s+1.0)
        if s>6.0: break
    return s
def k8(x):                      # indirect scatter then nonlinear reduce
    y=np.zeros(3)
    for i in range(N): y[IDX[i]]=y[IDX[i]]+x[i]*x[i]
    s=0.0
    for j in range(3): s=s+y[j]*y[j]
    return s
def k9(x):                      # read then overwrite
    u=x.copy(); s=0.0
    for i in range(N):
        s=s+u[i]*u[i]; u[i]=1.0
    return s
def k10(x):                     # repeated in-place multiply
    u=x.copy()
    for t in range(T):
        for i in range(N): u[i]=u[i]*x[i]
    return u.sum()
# fmt: on

TITLES = {
    k1: "running product",
    k2: "nonlinear after accumulator",
    k3: "in-place stencil steps",
    k4: "triangular nest",
    k5: "max with continue",
    k6: "while loop",
    k7: "break",
    k8: "indirect scatter",
    k9: "read then overwrite",
    k10: "repeated in-place *=",
}

for _function in TITLES:
    case(_function, lambda n, m: dict(x=m._cast(X)), least=N, real=N)
