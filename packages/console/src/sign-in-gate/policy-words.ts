import type { FieldWords } from '../kit/meanwhile.tsx'
import type { PolicyValues } from './policy-values.ts'
import { texts } from './texts.ts'

const { policy: words } = texts

/** How the fields of the policy are told where another admin has changed them. */
export const POLICY_WORDS: FieldWords<PolicyValues> = {
  fallbacks: {
    label: words.fallbacks,
    tell: (fallbacks) =>
      [...fallbacks.map((each) => words.fallbackNames[each]), words.refuse].join(', '),
  },
  keyDays: { label: words.keyDays },
  first: { label: words.first, tell: (choice) => words.firsts[choice][0] },
  further: { label: words.further, tell: (choice) => words.furthers[choice][0] },
  unreachable: { label: words.unreachable, tell: (choice) => words.unreachables[choice][0] },
  lastKnownMinutes: { label: words.lastKnown },
  outage: { label: words.outage, tell: (choice) => words.outageChoices[choice][0] },
  breakGlass: { label: words.breakGlass, tell: (group) => group?.label ?? words.noGroup },
  recheckMinutes: { label: words.recheck },
  proxies: { label: words.proxies },
  header: { label: words.header },
  headerProxies: { label: words.headerProxies },
  brandName: { label: words.brandName },
  brandColour: { label: words.brandColour },
  logo: { label: words.logo, tell: (logo) => (logo === null ? words.noLogo : words.otherLogo) },
}
