import type { FieldWords } from '../kit/meanwhile.tsx'
import type { StreamFormValues } from './form-values.ts'
import { texts } from './texts.ts'

const { form: words } = texts

/** How the fields of a stream are told where another admin has changed them. */
export const STREAM_WORDS: FieldWords<StreamFormValues> = {
  name: { label: texts.name },
  description: { label: words.description },
  deliveryType: { label: texts.deliveryType, tell: (type) => texts.deliveryTypes[type] },
  url: { label: texts.url },
  specVersion: { label: texts.specVersion, tell: (version) => texts.specVersions[version] },
  hasEvents: {
    label: texts.eventTypes,
    tell: (hasEvents) => (hasEvents ? texts.eventType : texts.noEvents),
  },
  credential: { label: words.signsIn, tell: (kind) => words.credentials[kind] },
  header: { label: words.header },
  tokenEndpoint: { label: words.tokenEndpoint },
  clientId: { label: words.clientId },
  clientSecret: { label: words.clientSecret },
  scope: { label: words.scope },
  certificate: { label: words.certificate },
  privateKey: { label: words.privateKey },
  profile: {
    label: words.profile,
    tell: (profile) => (profile === '' ? words.credentials.keep : words.profiles[profile]),
  },
  subjectForm: { label: words.subjectForm, tell: (form) => words.subjectForms[form] },
  reasonFields: {
    label: words.reasons,
    tell: (fields) =>
      fields.map((field) => words.reasonFields[field]).join(', ') || words.noReasons,
  },
  damping: {
    label: words.damping,
    tell: (seconds) => texts.page.seconds(seconds === '' ? 0 : seconds),
  },
  heartbeat: {
    label: words.heartbeat,
    tell: (minutes) => (minutes === '' ? texts.page.never : texts.page.everyMinutes(minutes)),
  },
  pairwise: { label: words.pairwise },
  sequence: { label: words.sequence },
  fallback: { label: words.fallback },
}
