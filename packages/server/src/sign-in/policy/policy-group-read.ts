import type { Kysely } from 'kysely'
import type { Schema } from '../../schema/schema.ts'

/** The group of this id; undefined when there is none. */
export async function findPersonGroupId(
  db: Kysely<Schema>,
  id: string,
): Promise<string | undefined> {
  const row = await db
    .selectFrom('person_group')
    .select('id')
    .where('id', '=', id)
    .executeTakeFirst()
  return row?.id
}
