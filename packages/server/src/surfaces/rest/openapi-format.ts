/** The parts of an OpenAPI 3.1 document that are worked on here; the rest is passed through. */
export interface OpenApiDocument {
  readonly openapi: string
  readonly info: object
  readonly servers?: readonly { readonly url: string }[]
  readonly tags?: readonly { readonly name: string }[]
  readonly paths: Readonly<Record<string, Readonly<Record<string, OpenApiOperation>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, unknown>>>>
}

/** One operation of a document. */
export interface OpenApiOperation {
  readonly operationId: string
  readonly parameters?: readonly OpenApiParameter[]
  readonly responses: Readonly<Record<string, unknown>>
  readonly security?: readonly object[]
  readonly requestBody?: {
    readonly content?: Readonly<Record<string, { readonly schema?: object }>>
  }
}

/** A parameter, or a reference to one. */
export interface OpenApiParameter {
  readonly name?: string
  readonly in?: string
  readonly $ref?: string
}
