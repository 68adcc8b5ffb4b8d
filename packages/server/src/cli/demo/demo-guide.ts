/** Where the running demo can be reached, and how to try it. */
export interface DemoGuide {
  readonly baseUrl: string
  readonly docsUrl: string
  readonly wellKnownUrl: string
  /** An API key that may read everything and manage streams. */
  readonly key: string
  /** Command lines that work as they are. */
  readonly curlLines: readonly string[]
}

/** Puts together what the demo tells its user. */
export function createGuide(baseUrl: string, key: string): DemoGuide {
  const withKey = `curl -H 'Authorization: Bearer ${key}'`
  return {
    baseUrl,
    docsUrl: `${baseUrl}/docs`,
    wellKnownUrl: `${baseUrl}/.well-known/ssf-configuration`,
    key,
    curlLines: [
      `curl ${baseUrl}/.well-known/ssf-configuration`,
      `${withKey} '${baseUrl}/devices?per_page=3'`,
      `${withKey} ${baseUrl}/ssf_streams`,
    ],
  }
}

/** The guide as lines of text, every address and command on a line of its own. */
export function toGuideLines(guide: DemoGuide): string[] {
  return [
    `Service      ${guide.baseUrl}`,
    `API docs     ${guide.docsUrl}`,
    `SSF          ${guide.wellKnownUrl}`,
    `API key      ${guide.key}`,
    '',
    'Try it:',
    ...guide.curlLines,
  ]
}
