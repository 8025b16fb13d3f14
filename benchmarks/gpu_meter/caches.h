// A cache of lines of 128 bytes that are filled by sectors of 32, the least recently
// used of 16 lines going first. Sets are hashed, so that strides do not meet in one.
#pragma once

#include <cstdint>
#include <vector>

class Cache {
    static constexpr int WAYS = 16;
    struct Line {
        uint64_t tag = ~0ull, used = 0;
        uint8_t sectors = 0, dirty = 0;
    };
    std::vector<Line> lines;
    uint64_t sets = 1, now = 0;

   public:
    explicit Cache(uint64_t bytes) {
        sets = bytes / 128 / WAYS;
        if (sets == 0) sets = 1;
        lines.resize(sets * WAYS);
    }

    void empty() {
        for (Line& line : lines) line = Line();
    }

    // Which of these sectors of a line, a bit each, were there? If `fill`, all are from
    // now on; `spilt` counts the sectors that had to be written back to make room.
    uint8_t touch(uint64_t tag, uint8_t bits, bool fill, bool dirty, uint64_t& spilt) {
        Line* set = &lines[((tag * 0x9e3779b97f4a7c15ull) >> 20) % sets * WAYS];
        Line* oldest = set;
        ++now;
        for (Line* line = set; line < set + WAYS; ++line) {
            if (line->tag == tag) {
                uint8_t there = line->sectors & bits;
                line->used = now;
                if (fill) line->sectors |= bits;
                if (fill && dirty) line->dirty |= bits;
                return there;
            }
            if (line->used < oldest->used) oldest = line;
        }
        if (fill) {
            spilt += uint64_t(__builtin_popcount(oldest->dirty));
            *oldest = {tag, now, bits, uint8_t(dirty ? bits : 0)};
        }
        return 0;
    }
};
