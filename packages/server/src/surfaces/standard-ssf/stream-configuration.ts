import {
  DELIVERY_METHOD_POLL,
  DELIVERY_METHOD_PUSH,
  DELIVERY_METHODS,
  type StreamConfiguration,
  type StreamExtensionMembers,
  type TransmitterSuppliedMembers,
} from '@heliograph/ssf'
import { z } from 'zod'
import { toStreamEvents } from '../../signals/streams/stream-json.ts'
import type { Stream } from '../../signals/streams/stream-store.ts'
import type { StreamContext } from '../../signals/streams/stream-context.ts'
import { toSurfaceUrls } from '../../signals/streams/surface-urls.ts'

const eventTypes = z.array(z.string())

/** A stream configuration, for the document. SSF 1.0 section 8.1.1. */
export const streamConfigurationSchema = z
  .object({
    stream_id: z.string().meta({ format: 'uuid' }),
    iss: z.string().describe('The issuer of its events.'),
    aud: z.string().describe('The audience of its events. It never changes.'),
    events_supported: eventTypes,
    events_requested: eventTypes.describe('As the receiver asked.'),
    events_delivered: eventTypes.describe('What is supported of what was requested.'),
    delivery: z.object({
      method: z.enum(DELIVERY_METHODS),
      endpoint_url: z.string().describe('Push: the URL of the receiver. Poll: where to poll.'),
    }),
    min_verification_interval: z.int().optional().describe('In seconds.'),
    inactivity_timeout: z.int().optional().describe('In seconds.'),
    description: z.string().optional(),
    heliograph_sequence: z
      .literal(true)
      .optional()
      .describe('Its events carry their number in the stream.'),
  })
  .meta({ id: 'StreamConfiguration' })

/** The members that only the transmitter sets. SSF 1.0 section 8.1.1. */
export function toTransmitterMembers(
  stream: Stream,
  { settings }: Pick<StreamContext, 'settings'>,
): TransmitterSuppliedMembers {
  const { minVerificationIntervalSeconds, inactivityTimeoutSeconds } = settings
  return {
    stream_id: stream.streamId,
    iss: stream.issuer,
    aud: stream.audience,
    ...toStreamEvents(stream),
    ...(minVerificationIntervalSeconds === 0
      ? {}
      : { min_verification_interval: minVerificationIntervalSeconds }),
    ...(inactivityTimeoutSeconds === 0 ? {} : { inactivity_timeout: inactivityTimeoutSeconds }),
  }
}

/** The complete configuration. The authorization header of pushes is a secret and not in it. */
export function toStreamConfiguration(
  stream: Stream,
  context: StreamContext,
): StreamConfiguration & StreamExtensionMembers {
  const pushUrl = stream.deliveryMethod === 'push' ? stream.endpointUrl : null
  return {
    ...toTransmitterMembers(stream, context),
    events_requested: stream.eventsRequested,
    delivery:
      pushUrl === null
        ? {
            method: DELIVERY_METHOD_POLL,
            endpoint_url: toSurfaceUrls(context.baseUrl).pollEndpoint(stream.streamId),
          }
        : { method: DELIVERY_METHOD_PUSH, endpoint_url: pushUrl },
    ...(stream.description === null ? {} : { description: stream.description }),
    ...(stream.isNumbered ? { heliograph_sequence: true } : {}),
  }
}
