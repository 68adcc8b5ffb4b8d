/* The settings of streams, of the form that settings.ts defines. */
import { choice, integer } from './setting-values.ts'

/** What operators choose for all streams and their receivers. */
export const STREAM_SETTINGS = {
  streamsMax: {
    env: 'HELIOGRAPH_STREAMS_MAX',
    description: 'How many SSF streams may exist.',
    ...integer(1, 10_000, 100),
  },
  ssfDefaultSubjects: {
    env: 'HELIOGRAPH_SSF_DEFAULT_SUBJECTS',
    description:
      'Which subjects new streams of the standard Shared Signals surface begin with: `ALL`, or `NONE` until their receivers add some. A client can have a choice of its own.',
    ...choice(['ALL', 'NONE'], 'ALL'),
  },
  ssfSubjectsMax: {
    env: 'HELIOGRAPH_SSF_SUBJECTS_MAX',
    description: 'How many subjects the receiver of one stream may have added or removed.',
    ...integer(0, 1_000_000, 10_000),
  },
  ssfMinVerificationIntervalSeconds: {
    env: 'HELIOGRAPH_SSF_MIN_VERIFICATION_INTERVAL_SECONDS',
    description:
      'How long a receiver waits between two verifications of a stream; faster ones are refused with 429. 0 refuses none.',
    ...integer(0, 86_400, 1),
  },
  ssfInactivityTimeoutSeconds: {
    env: 'HELIOGRAPH_SSF_INACTIVITY_TIMEOUT_SECONDS',
    description:
      'After how long without a management call or a poll of its receiver a stream of the standard Shared Signals surface is paused; 0 pauses none.',
    ...integer(0, 31_536_000, 0),
  },
  ssfVerificationEndpoint: {
    env: 'HELIOGRAPH_SSF_VERIFICATION_ENDPOINT',
    description:
      'How the discovery document of the root issuer names its verification endpoint: `template` (`/ssf_streams/{stream_id}/test`) or `concrete` (`/ssf_streams/verify`), for clients that cannot fill in a template. Both always answer.',
    ...choice(['template', 'concrete'], 'template'),
  },
  longPollsMax: {
    env: 'HELIOGRAPH_LONG_POLLS_MAX',
    description:
      'How many poll requests may wait for events in one process; those beyond are answered at once.',
    ...integer(0, 1_000_000, 10_000),
  },
} as const
