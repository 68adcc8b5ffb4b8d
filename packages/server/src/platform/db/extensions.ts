/**
 * Extensions that the schema needs, all of them part of PostgreSQL: substring search in indexes, and
 * indexes that hold such a search together with ordinary columns.
 */
export const REQUIRED_EXTENSIONS: readonly string[] = ['pg_trgm', 'btree_gin']
