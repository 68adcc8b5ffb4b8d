import type { z } from 'zod'
import { AppError } from '../../platform/app-error.ts'
import {
  createApplicationBody,
  toApplicationEdit,
  toApplicationValues,
  updateApplicationBody,
} from '../../sign-in/applications/application-input.ts'
import { toApplicationJson } from '../../sign-in/applications/application-json.ts'
import { listApplications } from '../../sign-in/applications/application-store.ts'
import {
  changeApplication,
  createApplication,
  removeApplication,
  rotateApplicationSecret,
} from '../../sign-in/applications/change-application.ts'
import { EVERYTHING, toTable } from '../command-io.ts'
import { databaseCommand, type OptionValues } from '../command.ts'
import { choiceOption, option, parsedOption, wholeOption } from '../option.ts'
import { parseSwitch } from '../parse-arguments.ts'
import { findTargetProblemBy } from './find-target-problem.ts'

const SESSION_SECONDS_MAX = 86_400

const SETTINGS = {
  redirectUris: parsedOption(
    '--redirect-uris <urls>',
    'where people are sent back to, separated by commas',
    parseList,
  ),
  mode: choiceOption('--mode <mode>', 'whether it says who signs in, or an upstream provider', [
    'step_up',
    'broker',
  ]),
  upstream: option('--upstream <id>', 'the upstream provider of a broker'),
  minimumAssurance: choiceOption(
    '--minimum-assurance <assurance>',
    'how strongly a device must be known; live unless said',
    ['hardware', 'live', 'approved', 'key'],
  ),
  authentication: choiceOption(
    '--authentication <method>',
    'how it authenticates; none is for public clients',
    ['client_secret_basic', 'client_secret_post', 'none'],
  ),
  claimsProfile: choiceOption('--claims-profile <profile>', 'whose claims its ID tokens have', [
    'standard',
    'okta',
  ]),
  serial: parsedOption(
    '--serial <on|off>',
    'whether its ID tokens tell the serial number',
    parseSwitch,
  ),
  hosts: parsedOption(
    '--hosts <names>',
    'of forward authentication: the sites, separated by commas',
    parseList,
  ),
  entraTenantId: option('--entra-tenant-id <id>', 'of Entra: the tenant'),
  entraAppId: option('--entra-app-id <id>', 'of Entra: the application that is registered there'),
  entraCloud: choiceOption('--entra-cloud <cloud>', 'of Entra: where it is', [
    'global',
    'us_government',
    'china',
  ]),
  backchannelLogoutUri: option('--backchannel-logout-uri <url>', 'where it is told of ends'),
  sessionSeconds: wholeOption(
    '--session-seconds <n>',
    'how long what is granted lasts',
    SESSION_SECONDS_MAX,
    60,
  ),
} as const

const createCommand = databaseCommand({
  name: 'create',
  description: 'set up an application; its secret, where it has one, is shown once',
  options: {
    name: option('--name <name>', 'what people are told they sign in to').required(),
    kind: choiceOption('--kind <kind>', 'what it is', ['oidc', 'entra', 'forward_auth']).default(
      'oidc',
    ),
    ...SETTINGS,
  },
  async run({ change, options, services }) {
    const { config, sealer } = services
    const body = parseBody(createApplicationBody, {
      name: options.name,
      kind: options.kind,
      ...toBody(options),
    })
    const findTargetProblem = findTargetProblemBy(config)
    const issued = await change((tx) =>
      createApplication(tx, toApplicationValues(body), { sealer, findTargetProblem }),
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

const setCommand = databaseCommand({
  name: 'set <application>',
  description: 'change an application, by its id or client id; what is not given stays',
  options: {
    name: option('--name <name>', 'what people are told they sign in to'),
    enabled: parsedOption('--enabled <on|off>', 'whether people get in by it', parseSwitch),
    ...SETTINGS,
  },
  async run({ args, change, options, services }) {
    const { config, sealer } = services
    const body = parseBody(updateApplicationBody, {
      ...given({ name: options.name, enabled: options.enabled }),
      ...toBody(options),
    })
    const findTargetProblem = findTargetProblemBy(config)
    const changed = await change((tx) =>
      changeApplication(tx, args.application, toApplicationEdit(body), {
        sealer,
        findTargetProblem,
      }),
    )
    return toApplicationJson(config.baseUrl, changed)
  },
  text: ({ name }) => `Changed the application ${name}.`,
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

/** `heliograph sign-in applications ...` */
export const SIGN_IN_APPLICATION_COMMANDS = [
  createCommand,
  listCommand,
  setCommand,
  rotateCommand,
  removeCommand,
]

function toBody(options: OptionValues<typeof SETTINGS>) {
  return given({
    redirect_uris: options.redirectUris,
    mode: options.mode,
    upstream_provider_id: options.upstream,
    minimum_assurance: options.minimumAssurance,
    token_endpoint_auth_method: options.authentication,
    claims_profile: options.claimsProfile,
    serial_claimed: options.serial,
    hosts: options.hosts,
    entra_tenant_id: options.entraTenantId,
    entra_app_id: options.entraAppId,
    entra_cloud: options.entraCloud,
    backchannel_logout_uri: options.backchannelLogoutUri,
    session_seconds: options.sessionSeconds,
  })
}

/** What was given; a member that is undefined was not. */
function given(values: Readonly<Record<string, unknown>>) {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

function parseBody<Body extends z.ZodType>(schema: Body, values: unknown): z.output<Body> {
  const body = schema.safeParse(values)
  if (body.success) return body.data
  const [issue] = body.error.issues
  const path = issue?.path.join('.') ?? ''
  throw new AppError('invalid_body', `${path === '' ? '' : `${path}: `}${issue?.message ?? ''}`)
}

function parseList(text: string): string[] {
  return text.split(',').map((part) => part.trim())
}
