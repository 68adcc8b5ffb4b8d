import { parseAllowedTargets, checkTargetUrl } from '../../platform/net/target-policy.ts'
import { AppError } from '../../platform/app-error.ts'
import {
  createApplicationBody,
  toApplicationValues,
} from '../../sign-in/applications/application-input.ts'
import { toApplicationJson } from '../../sign-in/applications/application-json.ts'
import { listApplications } from '../../sign-in/applications/application-store.ts'
import {
  createApplication,
  removeApplication,
  rotateApplicationSecret,
} from '../../sign-in/applications/change-application.ts'
import { getSignInPolicy } from '../../sign-in/policy/policy-store.ts'
import { endSession } from '../../sign-in/sessions/end-sessions.ts'
import { listGrantedSessions } from '../../sign-in/sessions/granted-session-store.ts'
import { EVERYTHING, toTable, toTableLines } from '../command-io.ts'
import { commandGroup, databaseCommand, type CommandDefinition } from '../command.ts'
import { choiceOption, option } from '../option.ts'

const createCommand = databaseCommand({
  name: 'create',
  description: 'set up an OpenID Connect application; its secret is shown once',
  options: {
    name: option('--name <name>', 'what people are told they sign in to').required(),
    redirectUris: option(
      '--redirect-uris <urls>',
      'where people are sent back to, separated by commas',
    ).required(),
    minimumAssurance: choiceOption(
      '--minimum-assurance <assurance>',
      'how strongly a device must be known',
      ['hardware', 'live', 'approved', 'key'],
    ).default('live'),
    authentication: choiceOption(
      '--authentication <method>',
      'how it authenticates; none is for public clients',
      ['client_secret_basic', 'client_secret_post', 'none'],
    ).default('client_secret_basic'),
  },
  async run({ change, options, services }) {
    const { config, sealer } = services
    const targets = parseAllowedTargets(config.allowedTargets)
    const body = createApplicationBody.safeParse({
      name: options.name,
      redirect_uris: options.redirectUris.split(','),
      minimum_assurance: options.minimumAssurance,
      token_endpoint_auth_method: options.authentication,
    })
    if (!body.success) {
      throw new AppError('invalid_body', body.error.issues[0]?.message ?? 'A value is wrong.')
    }
    const findTargetProblem = (url: string) => {
      if (!targets.ok) return targets.reason
      const check = checkTargetUrl(url, targets.policy)
      return check.ok ? undefined : check.reason
    }
    const issued = await change((tx) =>
      createApplication(tx, toApplicationValues(body.data), { sealer, findTargetProblem }),
    )
    return {
      ...toApplicationJson(config.baseUrl, issued.application),
      client_secret: issued.secret,
    }
  },
  text: (made) => [
    `Issuer:        ${made.issuer}`,
    `Client id:     ${made.client_id}`,
    ...(made.client_secret === null ? [] : [`Client secret: ${made.client_secret}`]),
  ],
})

const listCommand = databaseCommand({
  name: 'list',
  description: 'list the applications, without their secrets',
  run: async ({ services: { db, config } }) =>
    (await listApplications(db, EVERYTHING)).map((each) => toApplicationJson(config.baseUrl, each)),
  text: (applications) =>
    toTable(applications, {
      ID: ({ id }) => id,
      NAME: ({ name }) => name,
      KIND: ({ kind }) => kind,
      'CLIENT ID': (application) => application.client_id,
      STATE: ({ enabled }) => (enabled ? 'on' : 'off'),
    }),
})

const rotateCommand = databaseCommand({
  name: 'rotate-secret <application>',
  description:
    'give an application, by its id or client id, a new secret; the old one ends at once',
  run: async ({ args, change, services: { sealer } }) => {
    const { application, secret } = await change((tx) =>
      rotateApplicationSecret(tx, args.application, { sealer }),
    )
    return { client_id: application.clientId, client_secret: secret }
  },
  text: ({ client_secret: secret }) => secret ?? '',
})

const removeCommand = databaseCommand({
  name: 'remove <application>',
  description: 'remove an application, by its id or client id; its sessions end',
  run: async ({ args, change }) => {
    const { id, name } = await change((tx) => removeApplication(tx, args.application))
    return { id, name }
  },
  text: ({ name }) => `Removed the application ${name}.`,
})

const showPolicyCommand = databaseCommand({
  name: 'show',
  description: 'show what is decided about sign-ins',
  run: async ({ services }) => {
    const policy = await getSignInPolicy(services.db)
    return {
      fallbacks: policy.fallbacks,
      first_registration: policy.firstRegistration,
      further_registration: policy.furtherRegistration,
      unreachable_device: policy.unreachableDevice,
      upstream_outage: policy.upstreamOutage,
      break_glass_group_id: policy.breakGlassGroupId,
      recheck_age_minutes: policy.recheckAgeMinutes,
    }
  },
  text: (policy) =>
    toTableLines(
      ['POLICY', 'VALUE'],
      Object.entries(policy).map(([name, value]) => [name, [value].flat().join(', ')]),
    ),
})

const listSessionsCommand = databaseCommand({
  name: 'list',
  description: 'list the granted sessions that have not ended',
  run: async ({ services: { db, clock } }) => {
    const sessions = await listGrantedSessions(db, { liveAt: clock.now() }, EVERYTHING)
    return sessions.map((session) => ({
      id: session.id,
      person_email: session.personEmail,
      device_name: session.deviceName,
      application_name: session.applicationName,
      assurance: session.assurance,
      expires_at: session.expiresAt.toISOString(),
    }))
  },
  text: (sessions) =>
    toTable(sessions, {
      ID: ({ id }) => id,
      PERSON: (session) => session.person_email,
      DEVICE: (session) => session.device_name ?? '',
      APPLICATION: (session) => session.application_name ?? '',
      EXPIRES: (session) => session.expires_at,
    }),
})

const endSessionCommand = databaseCommand({
  name: 'end <id>',
  description: 'end a granted session; its tokens are refused at once',
  run: async ({ args, change }) => {
    const { id, endReason } = await change((tx) => endSession(tx, args.id, 'admin'))
    return { id, end_reason: endReason }
  },
  text: ({ id }) => `Ended the session ${id}.`,
})

function named(
  name: string,
  description: string,
  definitions: readonly CommandDefinition[],
): CommandDefinition {
  return (io) => commandGroup(definitions)(io).name(name).description(description)
}

/** `heliograph sign-in applications|policy|sessions ...`. */
export const definition = commandGroup([
  named('applications', 'what people sign in to here', [
    createCommand,
    listCommand,
    rotateCommand,
    removeCommand,
  ]),
  named('policy', 'what is decided about sign-ins', [showPolicyCommand]),
  named('sessions', 'what was granted', [listSessionsCommand, endSessionCommand]),
])
