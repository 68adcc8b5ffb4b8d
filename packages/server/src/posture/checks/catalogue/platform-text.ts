// Small pieces that the texts of catalogue checks are put together from.
import { CHECK_PLATFORMS, type CheckPlatform } from '../check-definition.ts'

/** A numbered Markdown list. */
export function steps(...lines: readonly string[]): string {
  return lines.map((line, index) => `${index + 1}. ${line}`).join('\n')
}

/** Liquid that shows each platform its own text, and nothing to a platform without one. */
export function platformText(texts: Readonly<Partial<Record<CheckPlatform, string>>>): string {
  const branches = CHECK_PLATFORMS.flatMap((platform) => {
    const text = texts[platform]
    return text === undefined ? [] : [`{% when '${platform}' %}\n${text}\n`]
  })
  return `{% case device.platform %}${branches.join('')}{% endcase %}`
}
