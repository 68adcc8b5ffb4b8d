/* The published OpenAPI document as the judge of answers and bodies. */
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import addFormats from 'ajv-formats'
import type { LightMyRequestResponse } from 'fastify'

export interface PublishedOperation {
  readonly operationId: string
  readonly parameters: readonly { readonly $ref?: string; readonly name?: string }[]
  readonly requestBody?: {
    readonly content: Readonly<Record<string, { readonly example?: unknown }>>
  }
  readonly responses: Readonly<Record<string, PublishedResponse>>
  readonly security: readonly object[]
  readonly 'x-permission'?: string
  readonly 'x-codeSamples': readonly { readonly lang: string; readonly source: string }[]
}

interface PublishedResponse {
  readonly $ref?: string
  readonly headers?: object
  readonly content?: object
}

export interface PublishedDocument {
  readonly info: { readonly version: string }
  readonly paths: Readonly<Record<string, Readonly<Record<string, PublishedOperation>>>>
  readonly components: {
    readonly schemas: Readonly<Record<string, Readonly<Record<string, unknown>>>>
    readonly headers: Readonly<Record<string, { readonly schema: { readonly type: string } }>>
  }
}

const DOCUMENT_ID = 'https://openapi.example/document'
/** There only on an answer that is repeated, or that is an error. */
const CONDITIONAL_HEADERS = ['Idempotent-Replayed']
const EMPTY_STATUS = '204'
const JSON_TYPE = 'application/json'

/** Judges what a service answers by what it publishes. */
export class PublishedContract {
  readonly document: PublishedDocument
  readonly #ajv: Ajv2020
  readonly #validators = new Map<string, ValidateFunction>()

  constructor(document: PublishedDocument) {
    this.document = document
    this.#ajv = new Ajv2020({ strict: false, allErrors: true, validateSchema: false })
    addFormats.default(this.#ajv)
    // RFC 6531; the library knows those of ASCII alone.
    this.#ajv.addFormat('idn-email', /^[^\s@]+@[^\s@]+$/u)
    this.#ajv.addSchema(document, DOCUMENT_ID)
  }

  /** `METHOD /path/{id}` of every operation. */
  get operations(): string[] {
    return Object.entries(this.document.paths).flatMap(([path, operations]) =>
      Object.keys(operations).map((method) => `${method.toUpperCase()} ${path}`),
    )
  }

  operation(name: string): PublishedOperation {
    const [method = '', path = ''] = name.split(' ')
    const operation = this.document.paths[path]?.[method.toLowerCase()]
    if (operation === undefined) throw new Error(`${name} is not published`)
    return operation
  }

  /** What is wrong with an answer, in words; empty when nothing is. */
  findFaults(name: string, answer: LightMyRequestResponse): string[] {
    const status = String(answer.statusCode)
    const response = this.operation(name).responses[status]
    if (response === undefined) return [`status ${status} is not documented: ${answer.body}`]
    return [
      ...this.#findHeaderFaults(name, answer),
      ...(status === EMPTY_STATUS
        ? this.#findEmptyFaults(answer)
        : this.#findBodyFaults(name, status, answer)),
    ]
  }

  /** What is wrong with a request body. */
  findRequestFaults(name: string, body: unknown): string[] {
    return this.#validate([...pathOf(name), 'requestBody', ...JSON_SCHEMA], body)
  }

  #findHeaderFaults(name: string, answer: LightMyRequestResponse): string[] {
    const { headers } = answer
    const common = ['request-id', 'x-service-api-version'].filter((each) => !(each in headers))
    const documented = this.operation(name).responses[String(answer.statusCode)]?.headers ?? {}
    const missing = Object.keys(documented).filter(
      (each) =>
        !CONDITIONAL_HEADERS.includes(each) && !isHeaderPresent(each, headers, this.document),
    )
    return [...common, ...missing].map((each) => `the header ${each} is missing or not an integer`)
  }

  #findEmptyFaults(answer: LightMyRequestResponse): string[] {
    return answer.body === '' && answer.headers['content-type'] === undefined
      ? []
      : ['an answer without content has a body']
  }

  #findBodyFaults(name: string, status: string, answer: LightMyRequestResponse): string[] {
    const type = String(answer.headers['content-type'])
    const [documented] = Object.keys(this.operation(name).responses[status]?.content ?? {})
    if (documented !== undefined && documented !== JSON_TYPE) {
      return type === documented ? [] : [`the content type is ${type}`]
    }
    if (type !== 'application/json; charset=utf-8') return [`the content type is ${type}`]
    const reference = this.operation(name).responses[status]?.$ref
    const place =
      reference === undefined
        ? [...pathOf(name), 'responses', status]
        : reference.slice('#/'.length).split('/')
    return this.#validate([...place, ...JSON_SCHEMA], answer.json())
  }

  #validate(place: readonly string[], value: unknown): string[] {
    const pointer = place.map((part) => part.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
    const $ref = `${DOCUMENT_ID}#/${encodeURI(pointer)}`
    const validate = this.#validators.get($ref) ?? this.#ajv.compile({ $ref })
    this.#validators.set($ref, validate)
    if (validate(value)) return []
    return (validate.errors ?? []).map(
      ({ instancePath, message = '' }) => `${instancePath || 'the body'} ${message}`,
    )
  }
}

const JSON_SCHEMA = ['content', 'application/json', 'schema']

function pathOf(name: string): string[] {
  const [method = '', path = ''] = name.split(' ')
  return ['paths', path, method.toLowerCase()]
}

function isHeaderPresent(
  name: string,
  headers: LightMyRequestResponse['headers'],
  document: PublishedDocument,
): boolean {
  const value = headers[name.toLowerCase()]
  if (value === undefined) return false
  return document.components.headers[name]?.schema.type !== 'integer' || /^\d+$/.test(String(value))
}
