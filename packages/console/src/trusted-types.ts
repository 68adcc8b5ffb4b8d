/*
 * The one Trusted Types policy of the page. Mantine writes style sheets as text into `style` elements, which
 * browsers count as markup; so text passes that cannot begin a tag, and nothing else does.
 */
interface TrustedTypes {
  createPolicy(name: string, rules: { createHTML: (text: string) => string }): unknown
}

const trustedTypes = (globalThis as { trustedTypes?: TrustedTypes }).trustedTypes
trustedTypes?.createPolicy('default', {
  createHTML: (text) => {
    if (text.includes('<')) throw new TypeError('The console writes no markup from texts.')
    return text
  },
})

export {}
