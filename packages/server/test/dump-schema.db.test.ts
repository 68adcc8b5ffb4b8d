import { afterAll, expect, test } from 'vitest'
import { createTestDatabase } from './support/database.ts'
import { dumpSchema } from '../generate/dump-schema.ts'

const database = await createTestDatabase()
const empty = await createTestDatabase()
afterAll(async () => {
  await database.close()
  await empty.close()
})

const EXAMPLE = `
  create type dump_mood as enum ('good', 'bad');
  create domain dump_name as text not null check (value <> '');
  create function dump_touch() returns trigger language plpgsql as $$ begin return new; end $$;
  create table dump_parent (
    id bigint generated always as identity primary key,
    name dump_name,
    mood dump_mood not null default 'good',
    "Order" integer not null check ("Order" > 0),
    twice integer generated always as ("Order" * 2) stored,
    tags text[] not null default '{}',
    unique (name, mood)
  ) with (autovacuum_vacuum_scale_factor = 0.01);
  create table dump_child (
    parent_id bigint not null references dump_parent (id) on delete cascade,
    at timestamptz not null
  ) partition by range (at);
  create table dump_child_2026 partition of dump_child
    for values from ('2026-01-01') to ('2027-01-01');
  create index dump_parent_search on dump_parent using gin (lower(name) gin_trgm_ops) where mood = 'bad';
  create trigger dump_parent_touch before update on dump_parent
    for each row execute function dump_touch();
  create view dump_bad as
    select p.id from dump_parent p join dump_child c on c.parent_id = p.id where p.mood = 'bad';
  comment on table dump_parent is 'It''s a parent';
  comment on column dump_parent.name is 'What it is called';`

test('describes everything that a migration can make', async () => {
  await database.pool.query(EXAMPLE)
  const before = (await dumpSchema(empty.db)).split('\n')
  const added = (await dumpSchema(database.db)).split('\n').filter((line) => !before.includes(line))
  expect(added.map((line) => line.trim()).filter((line) => line !== '')).toMatchInlineSnapshot(`
    [
      "create type dump_mood as enum ('good', 'bad');",
      "create domain dump_name as text not null constraint dump_name_check CHECK ((VALUE <> ''::text));",
      "CREATE OR REPLACE FUNCTION public.dump_touch()",
      "AS $function$ begin return new; end $function$",
      "create table dump_child (",
      "parent_id bigint not null,",
      "at timestamp with time zone not null,",
      "constraint dump_child_parent_id_fkey FOREIGN KEY (parent_id) REFERENCES dump_parent(id) ON DELETE CASCADE",
      ") partition by RANGE (at);",
      "create table dump_child_2026 partition of dump_child FOR VALUES FROM ('2026-01-01 00:00:00+00') TO ('2027-01-01 00:00:00+00');",
      "create table dump_parent (",
      "name dump_name,",
      "mood dump_mood default 'good'::dump_mood not null,",
      ""Order" integer not null,",
      "twice integer generated always as (("Order" * 2)) stored,",
      "tags text[] default '{}'::text[] not null,",
      "constraint dump_parent_pkey PRIMARY KEY (id),",
      "constraint "dump_parent_Order_check" CHECK (("Order" > 0)),",
      "constraint dump_parent_name_mood_key UNIQUE (name, mood)",
      ") with (autovacuum_vacuum_scale_factor=0.01);",
      "create view dump_bad as",
      "SELECT p.id",
      "FROM (dump_parent p",
      "JOIN dump_child c ON ((c.parent_id = p.id)))",
      "WHERE (p.mood = 'bad'::dump_mood);",
      "CREATE INDEX dump_parent_search ON public.dump_parent USING gin (lower((name)::text) gin_trgm_ops) WHERE (mood = 'bad'::dump_mood);",
      "CREATE TRIGGER dump_parent_touch BEFORE UPDATE ON public.dump_parent FOR EACH ROW EXECUTE FUNCTION dump_touch();",
      "comment on column public.dump_parent.name is 'What it is called';",
      "comment on table public.dump_parent is 'It''s a parent';",
    ]
  `)
})

test('is the same text for the same schema, however often it is read', async () => {
  expect(await dumpSchema(empty.db)).toBe(await dumpSchema(empty.db))
})

test('leaves out what extensions bring', async () => {
  const text = await dumpSchema(empty.db)
  expect(text).toContain('create extension pg_trgm;')
  expect(text).not.toContain('similarity')
})
