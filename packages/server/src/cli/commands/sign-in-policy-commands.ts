import { InvalidArgumentError } from 'commander'
import { changeSignInPolicy } from '../../sign-in/policy/change-policy.ts'
import { FALLBACKS, getSignInPolicy, type SignInPolicy } from '../../sign-in/policy/policy-store.ts'
import { toPolicyValues } from '../../sign-in/policy/policy-values.ts'
import { toTableLines } from '../command-io.ts'
import { databaseCommand } from '../command.ts'
import { choiceOption, parsedOption, wholeOption } from '../option.ts'

const showCommand = databaseCommand({
  name: 'show',
  description: 'show what is decided about sign-ins',
  run: async ({ services }) => toPolicyValues(await getSignInPolicy(services.db)),
  text: toLines,
})

const setCommand = databaseCommand({
  name: 'set',
  description: 'change what is decided about sign-ins; what is not given stays',
  options: {
    fallbacks: parsedOption(
      '--fallbacks <names>',
      `what somebody may do whose device cannot be proven, in this order, separated by commas, of ${FALLBACKS.join(', ')}; none refuses`,
      parseFallbacks,
    ),
    firstRegistration: choiceOption(
      '--first-registration <rule>',
      'how the first device of a person is registered',
      ['on_first_use', 'admin_approval', 'refuse'],
    ),
    furtherRegistration: choiceOption(
      '--further-registration <rule>',
      'who confirms further devices',
      ['registered_device', 'admin_approval', 'registered_device_or_admin'],
    ),
    unreachableDevice: choiceOption(
      '--unreachable-device <rule>',
      'what becomes of a device that does not answer during a sign-in',
      ['refuse', 'last_known'],
    ),
    lastKnownMinutes: wholeOption(
      '--last-known-minutes <n>',
      'how long ago such a device may have been in contact',
      10_080,
    ),
    upstreamOutage: choiceOption(
      '--upstream-outage <rule>',
      'who gets in while the upstream provider does not answer',
      ['refuse', 'remembered_person'],
    ),
    recheckAgeMinutes: wholeOption(
      '--recheck-age-minutes <n>',
      'results of checks that are older run again during a sign-in',
      1_440,
    ),
    browserKeyDays: wholeOption(
      '--browser-key-days <n>',
      'how long the key of a browser lets in after the last proof of its device',
      365,
    ),
    breakGlassGroup: parsedOption(
      '--break-glass-group <id>',
      'the group of people whom no device keeps out; none for nobody',
      (text) => (text === 'none' ? null : text),
    ),
  },
  run: async ({ change, options }) => {
    const edit = {
      fallbacks: options.fallbacks,
      firstRegistration: options.firstRegistration,
      furtherRegistration: options.furtherRegistration,
      unreachableDevice: options.unreachableDevice,
      lastKnownMinutes: options.lastKnownMinutes,
      upstreamOutage: options.upstreamOutage,
      recheckAgeMinutes: options.recheckAgeMinutes,
      browserKeyDays: options.browserKeyDays,
      breakGlassGroupId: options.breakGlassGroup,
    }
    return toPolicyValues(await change(async (tx) => changeSignInPolicy(tx, edit)))
  },
  text: toLines,
})

/** `heliograph sign-in policy ...` */
export const SIGN_IN_POLICY_COMMANDS = [showCommand, setCommand]

function parseFallbacks(text: string): SignInPolicy['fallbacks'] {
  if (text === 'none') return []
  const names = text.split(',').map((name) => name.trim())
  const known = FALLBACKS.filter((name) => names.includes(name))
  if (known.length === names.length) return names as typeof known
  throw new InvalidArgumentError(
    `Fallbacks are ${FALLBACKS.join(', ')}, each at most once, or none.`,
  )
}

function toLines(policy: ReturnType<typeof toPolicyValues>): string[] {
  return toTableLines(
    ['POLICY', 'VALUE'],
    Object.entries(policy).map(([name, value]) => [name, toCell(value)]),
  )
}

function toCell(
  value: ReturnType<typeof toPolicyValues>[keyof ReturnType<typeof toPolicyValues>],
): string {
  return [value]
    .flat()
    .map((item) =>
      typeof item === 'object' && item !== null ? JSON.stringify(item) : String(item ?? ''),
    )
    .join(', ')
}
