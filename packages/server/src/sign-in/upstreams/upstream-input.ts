/* What is taken as an upstream provider, by the API and on the command line. */
import { z } from 'zod'
import { textInput } from '../../platform/wire/body-values.ts'
import type { UpstreamEdit, UpstreamValues } from './change-upstream.ts'

const NAME_LENGTH_MAX = 100
const URL_LENGTH_MAX = 2_048
const SCOPES_MAX = 20

const upstreamShape = {
  name: textInput(NAME_LENGTH_MAX),
  issuer: z
    .url({ protocol: /^https?$/, error: 'Must be a web address' })
    .max(URL_LENGTH_MAX)
    .refine((text) => !text.includes('\0'), 'Must be a web address'),
  client_id: textInput(URL_LENGTH_MAX),
  client_secret: textInput(URL_LENGTH_MAX).describe('Never shown again.'),
  scopes: z
    .array(z.string().regex(/^[\x21\x23-\x5b\x5d-\x7e]{1,100}$/, 'Must be a scope'))
    .min(1)
    .max(SCOPES_MAX)
    .refine((scopes) => scopes.includes('openid'), 'Must contain openid'),
}

export const createUpstreamBody = z
  .strictObject({
    ...upstreamShape,
    scopes: upstreamShape.scopes.default(['openid', 'email', 'profile']),
  })
  .meta({ id: 'CreateSignInUpstreamProvider' })
export const updateUpstreamBody = z
  .strictObject(upstreamShape)
  .partial()
  .meta({ id: 'UpdateSignInUpstreamProvider' })

export function toUpstreamValues(body: z.output<typeof createUpstreamBody>): UpstreamValues {
  const { client_id: clientId, client_secret: clientSecret, ...values } = body
  return { ...values, clientId, clientSecret }
}

export function toUpstreamEdit(body: z.output<typeof updateUpstreamBody>): UpstreamEdit {
  const { client_id: clientId, client_secret: clientSecret, ...values } = body
  return { ...values, clientId, clientSecret }
}
