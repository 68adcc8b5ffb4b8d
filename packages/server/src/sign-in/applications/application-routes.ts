import { changeRoute } from '../../changes/change-routes.ts'
import type { Foundation } from '../../changes/foundation.ts'
import { parseId } from '../../platform/ids.ts'
import { listRoute, route, type ApiRoute } from '../../schema/operations.ts'
import {
  createApplicationBody,
  toApplicationEdit,
  toApplicationValues,
  updateApplicationBody,
} from './application-input.ts'
import {
  applicationSchema,
  issuedApplicationSchema,
  toApplicationJson,
} from './application-json.ts'
import { getApplication, listApplications } from './application-store.ts'
import {
  changeApplication,
  createApplication,
  removeApplication,
  rotateApplicationSecret,
  type ApplicationDependencies,
  type IssuedApplication,
} from './change-application.ts'

export type ApplicationRouteDependencies = Pick<Foundation, 'db' | 'runChange'> &
  ApplicationDependencies & { readonly baseUrl: string }

const PATH = '/sign_in_applications'
const READ = { tags: ['Sign-in'], permission: 'Read Sign-in' } as const
const WRITE = { tags: ['Sign-in'], permission: 'Manage Sign-in' } as const
const EXAMPLE = {
  name: 'Wiki',
  kind: 'oidc',
  redirect_uris: ['https://wiki.example.com/callback'],
} as const

/** The operations on the applications that people sign in to here. */
export function applicationRoutes(dependencies: ApplicationRouteDependencies): ApiRoute[] {
  return [...readRoutes(dependencies), ...writeRoutes(dependencies), ...endingRoutes(dependencies)]
}

function readRoutes({ db, baseUrl }: ApplicationRouteDependencies): ApiRoute[] {
  return [
    listRoute({
      ...READ,
      path: PATH,
      summary: 'List sign-in applications',
      item: applicationSchema,
      fetch: ({ window }) => listApplications(db, window),
      toJson: (application) => toApplicationJson(baseUrl, application),
    }),
    route({
      ...READ,
      method: 'GET',
      path: `${PATH}/:id`,
      summary: 'Show a sign-in application',
      responses: { 200: applicationSchema },
      handler: async ({ params }) =>
        toApplicationJson(baseUrl, await getApplication(db, parseId(params.id, 'application'))),
    }),
  ]
}

function writeRoutes(dependencies: ApplicationRouteDependencies): ApiRoute[] {
  const { runChange, baseUrl } = dependencies
  return [
    changeRoute(runChange, {
      ...WRITE,
      method: 'POST',
      path: PATH,
      stepUp: true,
      summary: 'Set up a sign-in application',
      description: 'One that authenticates by a secret gets one, which is shown once.',
      body: createApplicationBody,
      example: { body: EXAMPLE },
      responses: { 200: issuedApplicationSchema },
      handler: async ({ change, body }) =>
        toIssuedJson(
          baseUrl,
          await createApplication(change, toApplicationValues(body), dependencies),
        ),
    }),
    changeRoute(runChange, {
      ...WRITE,
      method: 'PATCH',
      path: `${PATH}/:id`,
      stepUp: true,
      summary: 'Change a sign-in application',
      description: 'Every process knows it at once. Sessions of one that is switched off end.',
      body: updateApplicationBody,
      example: { body: { name: 'Wiki of the office' } },
      responses: { 200: applicationSchema },
      handler: async ({ change, params, body }) => {
        const id = parseId(params.id, 'application')
        const edit = toApplicationEdit(body)
        return toApplicationJson(baseUrl, await changeApplication(change, id, edit, dependencies))
      },
    }),
  ]
}

function endingRoutes(dependencies: ApplicationRouteDependencies): ApiRoute[] {
  const { runChange, baseUrl } = dependencies
  return [
    changeRoute(runChange, {
      ...WRITE,
      method: 'POST',
      path: `${PATH}/:id/rotate_secret`,
      stepUp: true,
      summary: 'Give a sign-in application a new secret',
      description: 'It is shown once. The one before it ends at once.',
      responses: { 200: issuedApplicationSchema },
      handler: async ({ change, params }) => {
        const id = parseId(params.id, 'application')
        return toIssuedJson(baseUrl, await rotateApplicationSecret(change, id, dependencies))
      },
    }),
    changeRoute(runChange, {
      ...WRITE,
      method: 'DELETE',
      path: `${PATH}/:id`,
      summary: 'Remove a sign-in application',
      description: 'Its sessions end, and nobody signs in to it any more.',
      responses: { 200: applicationSchema },
      handler: async ({ change, params }) =>
        toApplicationJson(
          baseUrl,
          await removeApplication(change, parseId(params.id, 'application')),
        ),
    }),
  ]
}

function toIssuedJson(baseUrl: string, { application, secret }: IssuedApplication) {
  return { ...toApplicationJson(baseUrl, application), client_secret: secret }
}
