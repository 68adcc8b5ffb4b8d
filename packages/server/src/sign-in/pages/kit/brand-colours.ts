/*
 * The colours of a page that follow from the one colour of an organisation. Whatever colour it is, what is written in
 * it can be read: WCAG 2.2, success criteria 1.4.3 and 1.4.11.
 */

/** The colours of one theme, as CSS writes them. */
interface BrandTheme {
  /** Of links and of what is chosen: at least 4.5:1 on every ground of the theme. */
  readonly accent: string
  /** The ground of the most important button. */
  readonly filled: string
  /** What is written on it: at least 4.5:1. */
  readonly onFilled: string
}

/** What a page takes from the colour of an organisation. */
export interface BrandColours {
  /** The ground of the head of a page, dark in both themes. */
  readonly head: string
  /** What is written on it. */
  readonly onHead: string
  readonly light: BrandTheme
  readonly dark: BrandTheme
}

type Rgb = readonly [number, number, number]

/** The grounds of `pages.css` on which an accent has least contrast. */
const LIGHTEST_TEXT_GROUND: Rgb = [0xe9, 0xee, 0xf0]
const DARKEST_TEXT_GROUND: Rgb = [0x1f, 0x2c, 0x37]
const WHITE: Rgb = [255, 255, 255]
const BLACK: Rgb = [0, 0, 0]
const TEXT_CONTRAST = 4.5
/** A head is dark enough for white, and not so light that the page dazzles at night. */
const HEAD_CONTRAST = 7
const STEPS = 50

/** A colour as it is set and as it stands in addresses: six hexadecimal digits. */
export const BRAND_COLOUR = /^[0-9a-f]{6}$/

/** The colour of an organisation that has set none. */
export const DEFAULT_BRAND_COLOUR = '1d5f86'

/** The colours that follow from one, given as six hexadecimal digits. */
export function deriveBrandColours(colour: string): BrandColours {
  const own = parseColour(colour)
  const head = untilContrast(own, { against: WHITE, towards: BLACK, least: HEAD_CONTRAST })
  const lightAccent = untilContrast(own, {
    against: LIGHTEST_TEXT_GROUND,
    towards: BLACK,
    least: TEXT_CONTRAST,
  })
  const darkAccent = untilContrast(own, {
    against: DARKEST_TEXT_GROUND,
    towards: WHITE,
    least: TEXT_CONTRAST,
  })
  return {
    head: toCss(head),
    onHead: toCss(WHITE),
    light: { accent: toCss(lightAccent), filled: toCss(lightAccent), onFilled: toCss(WHITE) },
    dark: {
      accent: toCss(darkAccent),
      filled: toCss(darkAccent),
      onFilled: toCss([0x0c, 0x14, 0x1a]),
    },
  }
}

/** The style sheet that gives a page these colours. */
export function toBrandCss({ head, onHead, light, dark }: BrandColours): string {
  const theme = ({ accent, filled, onFilled }: BrandTheme) =>
    `--accent:${accent};--filled:${filled};--on-filled:${onFilled}`
  return (
    `:root{--head:${head};--on-head:${onHead};${theme(light)}}` +
    `@media (prefers-color-scheme:dark){:root{${theme(dark)}}}`
  )
}

/** The contrast of two colours: 1 for the same, 21 for black and white (WCAG 2.2, "contrast ratio"). */
export function contrastOf(one: Rgb, other: Rgb): number {
  const [lighter, darker] = [luminanceOf(one), luminanceOf(other)].toSorted((a, b) => b - a)
  return ((lighter ?? 0) + 0.05) / ((darker ?? 0) + 0.05)
}

/** The parts of a colour of six hexadecimal digits. */
export function parseColour(colour: string): Rgb {
  const value = Number.parseInt(colour, 16)
  return [(value >> 16) & 0xff, (value >> 8) & 0xff, value & 0xff]
}

interface Wanted {
  readonly against: Rgb
  readonly towards: Rgb
  readonly least: number
}

/** The colour itself, or as little of `towards` mixed into it as the contrast needs. */
function untilContrast(colour: Rgb, { against, towards, least }: Wanted): Rgb {
  for (let step = 0; step <= STEPS; step += 1) {
    const mixed = mix(colour, towards, step / STEPS)
    if (contrastOf(mixed, against) >= least) return mixed
  }
  return towards
}

function mix(one: Rgb, other: Rgb, share: number): Rgb {
  const part = (index: 0 | 1 | 2) => Math.round(one[index] * (1 - share) + other[index] * share)
  return [part(0), part(1), part(2)]
}

function luminanceOf([red, green, blue]: Rgb): number {
  const linear = (part: number) => {
    const share = part / 255
    return share <= 0.040_45 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4
  }
  return 0.2126 * linear(red) + 0.7152 * linear(green) + 0.0722 * linear(blue)
}

function toCss(colour: Rgb): string {
  return `#${colour.map((part) => part.toString(16).padStart(2, '0')).join('')}`
}
