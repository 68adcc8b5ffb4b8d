import { resourceNotFound } from '../../people/provisioning/scim-error.ts'
import type { ScimAttributes } from '../../people/provisioning/read-resource.ts'
import { operation, type Operation } from '../../platform/http/operation.ts'
import { COUNT_MAX } from './scim-request.ts'
import {
  GROUP_ATTRIBUTES,
  GROUP_TYPE,
  LIST_RESPONSE_SCHEMA,
  USER_ATTRIBUTES,
  USER_TYPE,
  type ScimAttribute,
  type ScimResourceType,
} from '../../people/provisioning/scim-schema.ts'

/** What a client can find out about the service; RFC 7644 section 4. */
export function discoveryEndpoints(scimUrl: string): Operation[] {
  const resourceTypes = [USER_TYPE, GROUP_TYPE].map((type) => toResourceTypeJson(scimUrl, type))
  const schemas = [
    toSchemaJson(scimUrl, USER_TYPE, USER_ATTRIBUTES),
    toSchemaJson(scimUrl, GROUP_TYPE, GROUP_ATTRIBUTES),
  ]
  return [
    toEndpoint('/ServiceProviderConfig', () => serviceProviderConfig(scimUrl)),
    toEndpoint('/ResourceTypes', () => toListResponse(resourceTypes)),
    toEndpoint('/ResourceTypes/:id', (id) => find(resourceTypes, 'resource type', id)),
    toEndpoint('/Schemas', () => toListResponse(schemas)),
    toEndpoint('/Schemas/:id', (id) => find(schemas, 'schema', id)),
  ]
}

/** A list that is whole. */
function toListResponse(resources: readonly ScimAttributes[]): ScimAttributes {
  return {
    schemas: [LIST_RESPONSE_SCHEMA],
    totalResults: resources.length,
    startIndex: 1,
    itemsPerPage: resources.length,
    Resources: resources,
  }
}

function toEndpoint(path: string, read: (id: string) => ScimAttributes): Operation {
  return operation({
    method: 'GET',
    path,
    access: { permission: null },
    summary: 'Show what the service can do',
    responses: {},
    handler: ({ params }) => ({ status: 200, body: read(params['id'] ?? '') }),
  })
}

function find(resources: readonly ScimAttributes[], what: string, id: string): ScimAttributes {
  const found = resources.find((resource) => resource['id'] === id)
  if (found === undefined) throw resourceNotFound(what, id)
  return found
}

/** RFC 7643 section 5. */
function serviceProviderConfig(scimUrl: string): ScimAttributes {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ServiceProviderConfig'],
    patch: { supported: true },
    bulk: { supported: false, maxOperations: 0, maxPayloadSize: 0 },
    filter: { supported: true, maxResults: COUNT_MAX },
    changePassword: { supported: false },
    sort: { supported: false },
    etag: { supported: true },
    authenticationSchemes: [
      {
        type: 'oauthbearertoken',
        name: 'API key',
        description: 'An API key with the permission "Manage People", sent as a bearer token.',
        specUri: 'https://www.rfc-editor.org/info/rfc6750',
        primary: true,
      },
    ],
    meta: {
      resourceType: 'ServiceProviderConfig',
      location: `${scimUrl}/ServiceProviderConfig`,
    },
  }
}

/** RFC 7643 section 6. */
function toResourceTypeJson(scimUrl: string, type: ScimResourceType): ScimAttributes {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:ResourceType'],
    id: type.name,
    name: type.name,
    endpoint: type.endpoint,
    description: type.description,
    schema: type.schema,
    meta: { resourceType: 'ResourceType', location: `${scimUrl}/ResourceTypes/${type.name}` },
  }
}

/** RFC 7643 section 7. */
function toSchemaJson(
  scimUrl: string,
  type: ScimResourceType,
  attributes: readonly ScimAttribute[],
): ScimAttributes {
  return {
    schemas: ['urn:ietf:params:scim:schemas:core:2.0:Schema'],
    id: type.schema,
    name: type.name,
    description: type.description,
    attributes,
    meta: { resourceType: 'Schema', location: `${scimUrl}/Schemas/${type.schema}` },
  }
}
