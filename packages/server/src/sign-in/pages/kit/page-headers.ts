/*
 * What a browser may do with a page: nothing from elsewhere, nothing inline, no frame around it, no markup from texts
 * but by the one policy of the script of the pages.
 */

export interface PagePolicy {
  /** Where the page may connect to beside the service itself. */
  readonly connectTo?: readonly string[]
  /** Where its forms, and what they redirect to, may lead beside the service itself. */
  readonly formsTo?: readonly string[]
}

/**
 * The headers of a page. The referrer goes to the service alone: without one, browsers leave out the origin of forms,
 * by which those of others are told apart.
 */
export function pageHeaders({ connectTo = [], formsTo = [] }: PagePolicy = {}): Record<
  string,
  string
> {
  return {
    'content-security-policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "img-src 'self'",
      ["connect-src 'self'", ...connectTo].join(' '),
      ["form-action 'self'", ...formsTo].join(' '),
      "base-uri 'none'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
      'trusted-types heliograph-pages',
    ].join('; '),
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'permissions-policy': 'camera=(), microphone=(), geolocation=(), clipboard-write=(self)',
    'referrer-policy': 'same-origin',
  }
}
