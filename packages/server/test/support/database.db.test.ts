import { Client } from 'pg'
import { expect, test } from 'vitest'
import { toClientConfig } from '../../src/platform/db/connection.ts'
import { createTestDatabase } from './database.ts'
import { deleteRows, emptyTables } from './empty-tables.ts'
import { insertCheck, insertDevice, insertIssue } from './factories.ts'

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

test('empties tables with what refers to them; ids begin anew or go on', async () => {
  const database = await createTestDatabase()
  const { db } = database
  const fill = async () => {
    const [device, check] = [await insertDevice(db), await insertCheck(db)]
    return [device, check, await insertIssue(db, { device_id: device, check_id: check })]
  }
  const countIssues = async () => (await db.selectFrom('issue').select('id').execute()).length
  expect(await fill()).toEqual(['1', '1', '1'])
  await deleteRows(db, 'device', 'posture_check')
  expect(await countIssues()).toBe(0)
  expect(await fill()).toEqual(['2', '2', '2'])
  await emptyTables(db, 'device', 'posture_check')
  expect(await countIssues()).toBe(0)
  expect(await fill()).toEqual(['1', '1', '1'])
  await database.close()
})
