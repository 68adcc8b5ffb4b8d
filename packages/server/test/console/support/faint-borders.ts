/* Finds borders of what is filled in or pressed that hardly differ from the ground: axe looks at texts alone. */
import type { Page } from 'playwright-core'

/** What WCAG 2.2 asks of the parts by which somebody knows a control (1.4.11). */
const CONTRAST_MIN = 3

/** A script for the page, as a text: tests know no types of the browser. */
const FAINT = `(() => {
  const pixel = new OffscreenCanvas(1, 1).getContext('2d', { willReadFrequently: true })
  const painted = (...colours) => {
    for (const colour of colours) {
      pixel.fillStyle = colour
      pixel.fillRect(0, 0, 1, 1)
    }
    return pixel.getImageData(0, 0, 1, 1).data
  }
  const groundsOf = (part) => part === null ? ['white'] :
    [...groundsOf(part.parentElement), getComputedStyle(part).backgroundColor]
  const luminanceOf = (rgb) => [0.2126, 0.7152, 0.0722].reduce((sum, share, index) => {
    const value = rgb[index] / 255
    return sum + share * (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4)
  }, 0)
  const contrastOf = (one, other) => {
    const [dark, bright] = [luminanceOf(one), luminanceOf(other)].sort((a, b) => a - b)
    return (bright + 0.05) / (dark + 0.05)
  }
  const edgeOf = (part) => {
    const { borderTopColor, borderTopWidth, backgroundColor } = getComputedStyle(part)
    if (part.matches('.mantine-Switch-track')) return backgroundColor
    return parseFloat(borderTopWidth) > 0 ? borderTopColor : 'transparent'
  }
  const isClear = (colour) => /^rgba\\(.*, 0\\)$|^transparent$/.test(colour)
  return [...document.querySelectorAll('input, textarea, button, .mantine-Button-root, .mantine-Switch-track')]
    .flatMap((part) => {
      const isOff = part.matches(':disabled, [data-disabled], :disabled + *')
      const edge = edgeOf(part)
      if (isOff || isClear(edge) || !part.checkVisibility({ opacityProperty: true })) return []
      const around = groundsOf(part.parentElement)
      const contrast = contrastOf(painted(...around, edge), painted(...around))
      return contrast < ${CONTRAST_MIN} ? [contrast.toFixed(2) + ' ' + edge + ': ' + part.outerHTML.slice(0, 300)] : []
    })
})()`

/** The borders on a page that are too faint, each with its contrast. */
export function findFaintBorders(page: Page): Promise<readonly string[]> {
  return page.evaluate<readonly string[]>(FAINT)
}
