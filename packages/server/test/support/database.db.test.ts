import { Client } from 'pg'
import { expect, test } from 'vitest'
import { toClientConfig } from '../../src/platform/db/connection.ts'
import { createTestDatabase } from './database.ts'

test('gives each caller a migrated database of its own', async () => {
  const one = await createTestDatabase()
  const two = await createTestDatabase()
  await one.pool.query('create table only_here (id integer)')
  await expect(two.pool.query('select from only_here')).rejects.toThrow('does not exist')
  await two.pool.query('select from schema_migration')
  await one.close()
  await two.close()
})

test('fails on closing when a connection was not given back to the pool', async () => {
  const database = await createTestDatabase()
  const client = await database.pool.connect()
  await expect(database.close()).rejects.toThrow('1 connections were not given back')
  client.release(true)
  await database.pool.end()
})

test('fails on closing when a connection of its own was left open, and names it', async () => {
  const database = await createTestDatabase()
  const client = new Client({ ...toClientConfig(database.connection), application_name: 'leaking' })
  client.on('error', () => undefined)
  await client.connect()
  await expect(database.close()).rejects.toThrow(/left open: leaking/)
  await client.end()
})
