/*
 * The declaration of an operation that changes something. Owns that its handler runs inside one change and
 * that its answer is made there, so that the answer which is kept for a repetition commits with the effect.
 * What else a route declares, the top of `platform/http/route.ts` says.
 */
import type { z } from 'zod'
import type { Caller, ResponseSchemas } from '../platform/http/operation.ts'
import type { Feature } from '../schema/features.ts'
import {
  route,
  toAnswer,
  type ApiRoute,
  type DefaultParams,
  type RouteContext,
  type RouteResult,
  type RouteShape,
} from '../schema/operations.ts'
import type { Permission } from '../schema/permissions.ts'
import type { Change, RunChange } from './change.ts'
import { toOrigin } from './to-origin.ts'

/** What the handler of a change receives. */
export interface ChangeContext<Params, Query, Body> extends RouteContext<
  Params,
  Query,
  Body,
  Caller
> {
  readonly change: Change
}

interface ChangeRouteDefinition<
  Path extends string,
  Responses extends ResponseSchemas,
  Params extends z.ZodType,
  Query extends z.ZodType,
  Body extends z.ZodType,
> extends RouteShape<Path, Permission | null, Responses, Params, Query, Body> {
  readonly feature?: Feature | null
  /** Runs again from the start when the change does: it keeps no state outside the change. */
  readonly handler: (
    context: ChangeContext<z.output<Params>, z.output<Query>, z.output<Body>>,
  ) => Promise<RouteResult<Responses>>
}

/** Declares a route whose handler is one change. */
export function changeRoute<
  const Path extends `/${string}`,
  Responses extends ResponseSchemas,
  Params extends z.ZodType = DefaultParams<Path>,
  Query extends z.ZodType = z.ZodObject<Record<never, z.ZodType>>,
  Body extends z.ZodType = z.ZodUndefined,
>(
  runChange: RunChange,
  { handler, ...shape }: ChangeRouteDefinition<Path, Responses, Params, Query, Body>,
): ApiRoute {
  return route({
    ...shape,
    // Of what is read in a change, that it was read is part of it.
    answersHead: shape.method !== 'GET',
    handler: (context) =>
      runChange(toOrigin(context), async (change) =>
        toAnswer(await handler({ ...context, change }), shape.responses),
      ) as Promise<RouteResult<Responses>>,
  })
}
