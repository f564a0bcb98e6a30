"""Cut the font of the formulas in HTML pages: STIX Two Math (SIL OFL 1.1) with the characters below, as WOFF.

Usage, in an environment of its own:

    pip install fonttools 'ziamath==0.13' && python .ci/math_font.py reports/templates/math.woff

ziamath carries the whole font; nothing else of it is used. The same versions write the same bytes. A test holds every
character of every formula against the result; where one is missing, add it here and cut again.
"""

from __future__ import annotations

import sys
from importlib.metadata import distribution

from fontTools import subset

ASCII = range(0x20, 0x7F)
GREEK = (*range(0x391, 0x3AA), *range(0x3B1, 0x3CA), 0x3D1, 0x3D5, 0x3F5)
ACCENTS = (0x2C6, 0x2DC, 0xAF, *range(0x300, 0x305), 0x305, 0x307, 0x308, 0x30C, 0x20D7, 0x203E)
LETTERS = (
    *(0x210B, 0x210E, 0x2110, 0x2112, 0x211B, 0x212C, 0x2130, 0x2131, 0x2133),  # script letters and h
    *(0x2102, 0x210D, 0x2113, 0x2115, 0x2119, 0x211A, 0x211D, 0x2124),  # ell and double-struck letters
    *range(0x1D434, 0x1D49C),  # italic, bold italic
    *range(0x1D49C, 0x1D4B6),  # script capitals
    *range(0x1D538, 0x1D552),  # double-struck capitals
    *range(0x1D6FC, 0x1D71C),  # italic Greek
    *(0x1D7D9, 0x1D6A4, 0x1D6A5),
)
OPERATORS = (
    *(0xA0, 0xAC, 0xB1, 0xB7, 0xD7, 0x2016, 0x2026, 0x2032, 0x2033, 0x2190, 0x2192, 0x2194, 0x219B, 0x21A6, 0x21D2),
    *(0x21D4, 0x2200, 0x2202, 0x2203, 0x2205, 0x2207, 0x2208, 0x2209, 0x220F, 0x2211, 0x2212, 0x2213, 0x2216),
    *(0x2217, 0x221A, 0x221D, 0x221E, 0x2225, 0x2227, 0x2228, 0x2229, 0x222A, 0x222B, 0x2236, 0x223C, 0x2243),
    *(0x2248, 0x2254, 0x2260, 0x2261, 0x2264, 0x2265, 0x226A, 0x226B, 0x2272, 0x2273, 0x227A, 0x227B, 0x227C),
    *(0x227D, 0x2282, 0x2286, 0x2295, 0x2297, 0x22A4, 0x22A5, 0x22C5, 0x22EE, 0x22EF, 0x2308, 0x2309, 0x230A),
    *(0x230B, 0x25CB, 0x27E8, 0x27E9, 0x27F6, 0x27F9, 0x27FA, 0x2A7D, 0x2A7E, 0x2AAF, 0x2AB0),
)


def main(target: str) -> None:
    """Write the cut font."""
    options = subset.Options()
    options.flavor = "woff"
    options.hinting = False
    options.layout_features = ["ssty", "dtls", "flac"]  # smaller signs in exponents, dotless letters, flat accents
    options.desubroutinize = True
    options.name_IDs = [*options.name_IDs, 13, 14]  # the licence stays with the font
    options.recalc_timestamp = False
    font = subset.load_font(str(distribution("ziamath").locate_file("ziamath/fonts/STIXTwoMath-Regular.ttf")), options)
    cutter = subset.Subsetter(options)
    cutter.populate(unicodes=[*ASCII, *GREEK, *ACCENTS, *LETTERS, *OPERATORS])
    cutter.subset(font)
    subset.save_font(font, target, options)
    print(f"{target}: {len(font.getBestCmap())} characters of {font['name'].getDebugName(5)}")


if __name__ == "__main__":
    main(sys.argv[1])
