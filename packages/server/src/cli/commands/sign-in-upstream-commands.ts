import { readFile } from 'node:fs/promises'
import { AppError } from '../../platform/app-error.ts'
import { createUpstreamBody, toUpstreamValues } from '../../sign-in/upstreams/upstream-input.ts'
import { createUpstream, removeUpstream } from '../../sign-in/upstreams/change-upstream.ts'
import { UPSTREAM_CALLBACK_PATH } from '../../sign-in/upstreams/upstream-paths.ts'
import { listUpstreams } from '../../sign-in/upstreams/upstream-store.ts'
import { EVERYTHING, toTable } from '../command-io.ts'
import { databaseCommand } from '../command.ts'
import { option, parsedOption } from '../option.ts'
import { findTargetProblemBy } from './find-target-problem.ts'

const createCommand = databaseCommand({
  name: 'create',
  description: 'set up an OpenID Connect provider that says who somebody is',
  options: {
    name: option('--name <name>', 'what admins call it').required(),
    issuer: option('--issuer <url>', 'its issuer').required(),
    clientId: option('--client-id <id>', 'what it calls this service').required(),
    clientSecretFile: option(
      '--client-secret-file <file>',
      'a file with the secret that it gave this service',
    ).required(),
    scopes: parsedOption('--scopes <names>', 'what is asked for, separated by commas', (text) =>
      text.split(','),
    ),
  },
  async run({ change, options, services: { config, sealer } }) {
    const secret = (await readFile(options.clientSecretFile, 'utf8')).replace(/\r?\n$/, '')
    const body = createUpstreamBody.safeParse({
      name: options.name,
      issuer: options.issuer,
      client_id: options.clientId,
      client_secret: secret,
      ...(options.scopes === undefined ? {} : { scopes: options.scopes }),
    })
    if (!body.success) {
      throw new AppError('invalid_body', body.error.issues[0]?.message ?? 'A value is wrong.')
    }
    const gateway = { findTargetProblem: findTargetProblemBy(config) }
    const made = await change((tx) =>
      createUpstream(tx, toUpstreamValues(body.data), { sealer, gateway }),
    )
    return {
      id: made.id,
      name: made.name,
      redirect_uri: `${config.baseUrl}${UPSTREAM_CALLBACK_PATH}`,
    }
  },
  text: (made) => [`Id:           ${made.id}`, `Redirect URI: ${made.redirect_uri}`],
})

const listCommand = databaseCommand({
  name: 'list',
  description: 'list the upstream providers, without their secrets',
  run: async ({ services: { db } }) =>
    (await listUpstreams(db, EVERYTHING)).map(({ id, name, issuer, clientId, scopes }) => ({
      id,
      name,
      issuer,
      client_id: clientId,
      scopes,
    })),
  text: (upstreams) =>
    toTable(upstreams, {
      ID: ({ id }) => id,
      NAME: ({ name }) => name,
      ISSUER: ({ issuer }) => issuer,
      'CLIENT ID': (upstream) => upstream.client_id,
    }),
})

const removeCommand = databaseCommand({
  name: 'remove <id>',
  description: 'remove an upstream provider that no application uses',
  run: async ({ args, change }) => {
    const { id, name } = await change((tx) => removeUpstream(tx, args.id))
    return { id, name }
  },
  text: ({ name }) => `Removed the upstream provider ${name}.`,
})

/** `heliograph sign-in upstreams ...` */
export const SIGN_IN_UPSTREAM_COMMANDS = [createCommand, listCommand, removeCommand]
