/*
 * The agent intake: osquery's TLS remote API. Owns its paths, its limits and how failures are told;
 * what results, enrollments and logs mean is decided elsewhere. Registers what all routes share and
 * hands each path to its handler.
 */
import type { FastifyInstance } from 'fastify'
import { AppError } from '../../platform/app-error.ts'
import type { AgentDependencies } from './agent-handler.ts'
import { createAgentHandlers } from './agent-handlers.ts'
import { createWriteRecorder } from './record-agent-message.ts'
import { createEnrollmentRecorder } from './record-enrollments.ts'
import { FLAG_FILE_PATHS, toFlagFile } from '../../posture/osquery/agent-config.ts'
import { AGENT_ERRORS, sendAgentError } from './agent-error.ts'
import { createErrorHandler } from '../../platform/http/error-response.ts'
import { runAs } from '../../platform/db/pool-turns.ts'

export interface OsqueryRoutesDependencies extends AgentDependencies {
  /** What the world calls the service, for the flag file. */
  readonly baseUrl: string
  /** The PEM text of the authority or certificate that agents pin; undefined for plain HTTP. */
  readonly certificatePem: () => string | undefined
}

/** Registers the agent routes under `/osquery`. Bodies are read by the handlers, within their own limits. */
export function registerOsqueryRoutes(app: FastifyInstance, deps: OsqueryRoutesDependencies): void {
  void app.register(
    async (scope) => {
      scope.addHook('onRequest', (_request, _reply, done) => runAs('devices', done))
      scope.removeAllContentTypeParsers()
      // Agents of any version and any content type are read by the handlers, from the raw stream. The
      // type of most of them by its name, because the router does not remember what '*' is found for.
      scope.addContentTypeParser(['application/json', '*'], (_request, _payload, done) =>
        done(null),
      )
      scope.setErrorHandler(createErrorHandler(AGENT_ERRORS))
      scope.setNotFoundHandler((_request, reply) =>
        sendAgentError(reply, new AppError('not_found', 'There is no such agent path.')),
      )
      registerAgentPaths(scope, deps)
      registerFiles(scope, deps)
    },
    { prefix: '/osquery' },
  )
}

function registerAgentPaths(scope: FastifyInstance, deps: AgentDependencies): void {
  const writes = createWriteRecorder(deps)
  const enrollments = createEnrollmentRecorder(deps)
  // Of a request whose connection was cut, nobody else waits for what it sent.
  scope.addHook('onClose', async () => {
    await Promise.all([writes.close(), enrollments.close()])
  })
  const handlers = createAgentHandlers(deps, writes, enrollments)
  const { direct } = handlers
  const paths = [
    { path: '/enroll', handler: handlers.enroll },
    { path: '/config', handler: handlers.config, direct: direct.config },
    { path: '/distributed/read', handler: handlers.read, direct: direct.read },
    { path: '/distributed/write', handler: handlers.write },
    { path: '/log', handler: handlers.log },
  ]
  for (const { path, handler, ...config } of paths) {
    scope.post(path, { config }, handler)
    scope.route({
      method: scope.supportedMethods.filter((method) => method !== 'POST'),
      url: path,
      handler: (_request, reply) => {
        void reply.header('allow', 'POST')
        const refusal = new AppError('method_not_allowed', 'Agents use POST here.')
        return sendAgentError(reply, refusal)
      },
    })
  }
}

function registerFiles(scope: FastifyInstance, deps: OsqueryRoutesDependencies): void {
  scope.get('/certificate.pem', (_request, reply) => {
    const pem = deps.certificatePem()
    if (pem !== undefined) return reply.type('application/x-pem-file').send(pem)
    const message = 'The service speaks plain HTTP: there is no certificate to pin.'
    return sendAgentError(reply, new AppError('not_found', message))
  })
  scope.get<{ Querystring: { platform?: unknown } }>('/flags', (request, reply) => {
    const { platform = 'linux' } = request.query
    const paths = Object.entries(FLAG_FILE_PATHS).find(([name]) => name === platform)?.[1]
    if (paths === undefined) {
      const message = `platform is one of ${Object.keys(FLAG_FILE_PATHS).join(', ')}.`
      return sendAgentError(reply, new AppError('invalid_parameter', message))
    }
    const flags = toFlagFile(deps.baseUrl, deps.settings, paths)
    return reply.type('text/plain; charset=utf-8').send(flags)
  })
}
