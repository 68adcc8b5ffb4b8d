/* Forward authentication as a part of the HTTP server: what proxies ask, and what browsers are sent to. */
import type { FastifyInstance } from 'fastify'
import { createAddressList } from '../../platform/net/address-list.ts'
import { mountPages, type PageSite } from '../pages/page-surface.ts'
import type { SignInKeys } from '../provider/sign-in-keys.ts'
import { mountSiteAuth } from './site-auth-endpoints.ts'
import { createSiteTokens } from './site-token.ts'
import { signOutRoutes } from './sign-out-routes.ts'
import { startRoutes, type StartContext } from './start-routes.ts'

export interface ForwardAuthContext extends StartContext {
  readonly keys: Pick<SignInKeys, 'current'>
  /** Addresses and ranges, separated by commas; without any nobody may ask. */
  readonly trustedProxies: string | undefined
}

/** Adds it to the HTTP server. */
export function mountForwardAuth(
  http: FastifyInstance,
  site: PageSite,
  context: ForwardAuthContext,
): void {
  const { keys, clock, baseUrl, trustedProxies } = context
  mountSiteAuth(http, {
    ...context,
    isTrustedProxy: createAddressList(trustedProxies?.split(',') ?? []),
    signToken: createSiteTokens({ keys, clock, baseUrl }),
  })
  mountPages(http, site, [...startRoutes(context), ...signOutRoutes(context)])
}
