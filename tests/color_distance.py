"""Measure how different two colors look, with normal and color-deficient vision.

Simulations: Machado, Oliveira and Fernandes, "A Physiologically-based Model for Simulation of Color Vision
Deficiency" (2009), matrices for severity 1.0, applied to linear RGB. Distances: CIEDE2000 (Sharma, Wu and
Dalal 2005).
"""

from math import atan2, cos, degrees, exp, hypot, radians, sin, sqrt

Triple = tuple[float, float, float]

EYE_MATRICES: dict[str, tuple[Triple, Triple, Triple]] = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.303900),
    ),
}  # fmt: skip


def to_linear_light(colour: str) -> Triple:
    """From #rrggbb to light."""
    r, g, b = (int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5))
    return tuple(c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in (r, g, b))  # type: ignore[return-value]


def simulate_eye(light: Triple, eye: str) -> Triple:
    r, g, b = (sum(share * part for share, part in zip(row, light, strict=True)) for row in EYE_MATRICES[eye])
    return min(max(r, 0), 1), min(max(g, 0), 1), min(max(b, 0), 1)


def to_lab(light: Triple) -> Triple:
    """CIELAB under D65."""
    r, g, b = light
    xyz = (
        (0.4124564 * r + 0.3575761 * g + 0.1804375 * b) / 0.95047,
        0.2126729 * r + 0.7151522 * g + 0.0721750 * b,
        (0.0193339 * r + 0.1191920 * g + 0.9503041 * b) / 1.08883,
    )
    x, y, z = (t ** (1 / 3) if t > 216 / 24389 else (24389 / 27 * t + 16) / 116 for t in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def compute_ciede2000(one: Triple, other: Triple) -> float:
    """CIEDE2000 of two CIELAB colours."""
    (l1, a1, b1), (l2, a2, b2) = one, other
    mean = (hypot(a1, b1) + hypot(a2, b2)) / 2
    stretch = 1.5 - 0.5 * sqrt(mean**7 / (mean**7 + 25**7))
    a1, a2 = a1 * stretch, a2 * stretch
    c1, c2 = hypot(a1, b1), hypot(a2, b2)
    h1, h2 = degrees(atan2(b1, a1)) % 360, degrees(atan2(b2, a2)) % 360
    turn = 0.0 if not c1 * c2 else (h2 - h1 + 180) % 360 - 180
    hue = 2 * sqrt(c1 * c2) * sin(radians(turn) / 2)
    level, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    middle = h1 + h2 if not c1 * c2 else (h1 + turn / 2) % 360
    t = (
        1
        - 0.17 * cos(radians(middle - 30))
        + 0.24 * cos(radians(2 * middle))
        + 0.32 * cos(radians(3 * middle + 6))
        - 0.20 * cos(radians(4 * middle - 63))
    )
    s_l = 1 + 0.015 * (level - 50) ** 2 / sqrt(20 + (level - 50) ** 2)
    s_c, s_h = 1 + 0.045 * chroma, 1 + 0.015 * chroma * t
    bend = 2 * sqrt(chroma**7 / (chroma**7 + 25**7)) * sin(radians(60 * exp(-(((middle - 275) / 25) ** 2))))
    d_l, d_c, d_h = (l2 - l1) / s_l, (c2 - c1) / s_c, hue / s_h
    return sqrt(d_l**2 + d_c**2 + d_h**2 - bend * d_c * d_h)


def compute_color_distance(one: str, other: str, eye: str) -> float:
    """CIEDE2000 of two colours as an eye sees them."""
    return compute_ciede2000(
        to_lab(simulate_eye(to_linear_light(one), eye)), to_lab(simulate_eye(to_linear_light(other), eye))
    )


def compute_contrast(one: str, other: str) -> float:
    """WCAG's contrast ratio."""
    lights = [0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in (to_linear_light(one), to_linear_light(other))]
    return (max(lights) + 0.05) / (min(lights) + 0.05)
