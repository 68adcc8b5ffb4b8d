import type { ServicePart } from '../../changes/foundation.ts'
import { registerStandardSsf, type StandardSurfaceContext } from './register-standard-ssf.ts'

/** Shared Signals as the standards have it. */
export function createStandardSsfPart(context: StandardSurfaceContext): ServicePart {
  return {
    name: 'standard Shared Signals',
    roles: ['api'],
    mount: (http) => registerStandardSsf(http, context),
  }
}
