/* The form by which a person shows the certificate of the device. Its connection goes through the proxy that asks for it. */
import { SYSTEM_ACTOR } from '../../changes/audit/audit-entry.ts'
import { getHeldAttempt } from '../attempts/attempt-cookie-input.ts'
import { attemptPath } from '../pages/attempt/attempt-path.ts'
import type { PageRoute } from '../pages/page-surface.ts'
import { readClientCertificate } from './client-certificate-input.ts'
import { proveByCertificate, type CertificateContext } from './prove-by-certificate.ts'

export function certificateRoutes(
  context: CertificateContext & { readonly baseUrl: string },
): PageRoute[] {
  return [
    {
      method: 'POST',
      path: attemptPath(':id', 'certificate'),
      handler: async (request) => {
        const { headers, params, address, requestId } = request
        const { attempt } = await getHeldAttempt(context, headers, params['id'] ?? '')
        const at = context.clock.now()
        await proveByCertificate(
          context,
          attempt.id,
          (header) => readClientCertificate(request, header, at),
          { actor: SYSTEM_ACTOR, requestId, ipAddress: address },
        )
        return { kind: 'see_other', to: attemptPath(attempt.id) }
      },
    },
  ]
}
