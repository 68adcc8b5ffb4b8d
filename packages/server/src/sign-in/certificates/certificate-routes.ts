/*
 * The form by which a person shows the certificate of the device. Its connection goes through the proxy that asks for
 * it.
 */
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { getHeldAttempt } from '../attempts/attempt-cookie-input.ts'
import { parseNewKeyField } from '../browser-keys/browser-key-input.ts'
import { attemptPath } from '../pages/attempt/attempt-path.ts'
import type { PageRoute } from '../pages/page-surface.ts'
import { readClientCertificate } from './client-certificate-input.ts'
import { proveByCertificate, type CertificateContext } from './prove-by-certificate.ts'

export function certificateRoutes(context: CertificateContext): PageRoute[] {
  return [
    {
      method: 'POST',
      path: attemptPath(':id', 'certificate'),
      handler: async (request) => {
        const { headers, params, address, requestId, form } = request
        const { attempt } = await getHeldAttempt(context, headers, params['id'] ?? '')
        const at = context.clock.now()
        const proven = await proveByCertificate(
          context,
          attempt.id,
          {
            read: (header) => readClientCertificate(request, header, at),
            newKey: parseNewKeyField(form.get('new_key')),
          },
          { actor: SYSTEM_ACTOR, requestId, ipAddress: address },
        )
        // The script of the page keeps the key under its id; without one there is none.
        if (headers.accept === 'application/json') {
          const { stage } = proven.attempt
          return { kind: 'data', content: { stage, browser_key: proven.boundKeyId ?? null } }
        }
        return { kind: 'see_other', to: attemptPath(attempt.id) }
      },
    },
  ]
}
