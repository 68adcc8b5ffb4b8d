/** Elements that draw, and nothing else. */
const ELEMENTS: ReadonlySet<string> = new Set([
  ...['svg', 'g', 'defs', 'title', 'desc', 'path', 'rect', 'circle', 'ellipse', 'line', 'polyline'],
  ...['polygon', 'text', 'tspan', 'linearGradient', 'radialGradient', 'stop', 'clipPath', 'mask'],
])
/** Attributes that could run something, or fetch it. */
const FORBIDDEN_ATTRIBUTE = /\s(?:on[a-z]+|style|href|xlink:href|src)\s*=/i
const FORBIDDEN_VALUE =
  /(?:url\s*\(\s*["']?\s*[^#"'\s]|javascript:|data:|@import|&#|&\w+;|<!|<\?(?!xml))/i

/**
 * Whether a text is an SVG of known elements that runs and fetches nothing. It is shown by an `img` besides, in which
 * browsers run nothing either.
 */
export function isSafeSvg(text: string): boolean {
  if (!/^\s*(?:<\?xml[^>]*\?>\s*)?<svg[\s>]/.test(text) || !/<\/svg>\s*$/.test(text)) return false
  if (FORBIDDEN_ATTRIBUTE.test(text) || FORBIDDEN_VALUE.test(text)) return false
  return [...text.matchAll(/<\/?([A-Za-z][\w:.-]*)/g)].every(([, name]) => ELEMENTS.has(name ?? ''))
}
