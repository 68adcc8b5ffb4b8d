/*
 * Ids that are easily taken for one another, as types of their own. A text from outside becomes one where
 * it is parsed; from the database they come as what the tables say they are.
 */
declare const brand: unique symbol

type Branded<Name extends string> = string & { readonly [brand]: Name }

/** The public id of a stream, a UUID: the `stream_id` of SSF. */
export type StreamId = Branded<'StreamId'>

/** The id of the row of a stream, a decimal number: the `id` of the REST API. */
export type StreamRowId = Branded<'StreamRowId'>

/** The id of a destination of deliveries, a decimal number: what a stream or a webhook delivers to. */
export type DestinationId = Branded<'DestinationId'>
