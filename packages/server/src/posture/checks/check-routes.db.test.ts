import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestApi, type TestApi } from '../../../test/support/api-app.ts'
import { insertCheck, insertCheckTag, insertDeviceGroup } from '../../../test/support/factories.ts'
import {
  describeListContract,
  describeRecordContract,
  toTrials,
  trialsOf,
} from '../../../test/support/read-contract.ts'
import { CHECK_LIST } from './check-read.ts'
import { checkRoutes } from './check-routes.ts'

let api: TestApi
let ids: Record<'firewall' | 'custom' | 'external' | 'bare', string>
let tagId: string

beforeAll(async () => {
  api = await createTestApi(({ db }) => checkRoutes(db))
  const { db } = api
  ids = {
    firewall: await insertCheck(db, {
      slug: 'firewall-on',
      name: 'Firewall',
      description: 'The firewall is on.',
      issue_title: 'The firewall is off',
      platforms: ['darwin', 'windows', 'linux'],
      topics: ['network'],
      queries: JSON.stringify({ darwin: 'select 1 as built_in' }),
      fix_instructions_template: 'Switch it on.',
      rationale_template: 'It keeps others out.',
      custom_rationale_template: 'Our insurer asks for it.',
      remediation_strategy: 'warn_then_block',
      grace_period_days: 7,
    }),
    custom: await insertCheck(db, {
      slug: 'own-agent',
      name: 'Own agent',
      description: 'The agent of the company runs.',
      issue_title: 'The agent is missing',
      type: 'custom',
      is_built_in: false,
      platforms: ['linux'],
      queries: JSON.stringify({ linux: 'select 2 as own' }),
      custom_fix_instructions_template: 'Ask the help desk.',
      remediation_strategy: 'block_immediately',
      updated_at: new Date('2026-01-12T00:00:00Z'),
    }),
    external: await insertCheck(db, {
      slug: 'training-done',
      name: 'Training',
      description: 'The yearly training is done.',
      type: 'external',
      is_built_in: false,
      remediation_strategy: 'notify_only',
    }),
    bare: await insertCheck(db, { slug: 'bare', name: 'Bare' }),
  }
  await addTags()
  await addGroups()
  await addCounters()
})

afterAll(() => api.close())

async function addTags(): Promise<void> {
  tagId = await insertCheckTag(api.db, ids.firewall, {
    name: 'Critical',
    description: 'Fix it today',
    color: 'rgba(200, 0, 0, 1)',
  })
  await insertCheckTag(api.db, ids.firewall, { name: 'Net', color: 'rgba(0, 0, 0, 1)' })
  await insertCheckTag(api.db, ids.custom, {
    name: 'Info',
    description: 'Good to know',
    color: 'rgba(0, 0, 200, 1)',
  })
}

async function addGroups(): Promise<void> {
  const groupId = await insertDeviceGroup(api.db, { name: 'Sales' })
  const otherId = await insertDeviceGroup(api.db, { name: 'Kiosks' })
  await api.db
    .insertInto('check_group_rule')
    .values([
      { check_id: ids.firewall, rule: 'targeted', device_group_id: groupId },
      { check_id: ids.firewall, rule: 'targeted', platform: 'darwin' },
      { check_id: ids.firewall, rule: 'excluded', device_group_id: otherId },
      { check_id: ids.firewall, rule: 'blocking_allowed', platform: 'linux' },
      { check_id: ids.firewall, rule: 'blocking_excluded', device_group_id: otherId },
    ])
    .execute()
}

/** Two of three targeted devices pass, spread over stripes; a device out of scope does not count. */
async function addCounters(): Promise<void> {
  const counter = { check_id: ids.firewall, device_count: 1 }
  await api.db
    .insertInto('check_counter')
    .values([
      { ...counter, stripe: 0, status: 'passing' },
      { ...counter, stripe: 1, status: 'passing' },
      { ...counter, stripe: 0, status: 'failing' },
      { ...counter, stripe: 2, status: 'out_of_scope' },
      { ...counter, check_id: ids.custom, stripe: 3, status: 'passing' },
    ])
    .execute()
}

async function findSlugs(query: string): Promise<string[]> {
  const url = `/checks?query=${encodeURIComponent(query)}`
  const { body } = await api.request<{ data: { slug: string }[] }>(url)
  return body.data.map(({ slug }) => slug)
}

describe('GET /checks', () => {
  describeListContract({
    api: () => api,
    path: () => '/checks',
    fields: [
      'name (: ~)',
      'check_description (: ~)',
      'check_tag_name (: ~)',
      'check_tag_description (: ~)',
      'check_tag_id (: ~)',
      'slug (: ~)',
      'type (:)',
    ],
    narrowSearch: () => 'slug:bare OR slug~agent OR slug~training',
  })

  const SEARCHES: Record<string, readonly string[]> = {
    'name:Firewall': ['firewall-on'],
    'name~AGENT': ['own-agent'],
    'check_description:"The firewall is on."': ['firewall-on', 'bare'],
    'check_description~YEARLY': ['training-done'],
    'check_tag_name:Critical': ['firewall-on'],
    'check_tag_name:critical': [],
    'check_tag_name~INF': ['own-agent'],
    'check_tag_name:Critical AND check_tag_name:Net': ['firewall-on'],
    'check_tag_description:"Good to know"': ['own-agent'],
    'check_tag_description~TODAY': ['firewall-on'],
    'slug:firewall-on': ['firewall-on'],
    'check_slug:firewall-on': ['firewall-on'],
    'slug~TRAINING': ['training-done'],
    'check_slug~training': ['training-done'],
    'type:osquery': ['firewall-on', 'bare'],
    'type:custom': ['own-agent'],
    'type:external': ['training-done'],
    'updated_at:2026-01-12': ['own-agent'],
    'updated_at>2026-01-10': ['own-agent'],
    'updated_at<2026-01-10': ['firewall-on', 'training-done', 'bare'],
  }

  it.each(Object.entries(SEARCHES))('finds by %s', async (query, slugs) => {
    expect(await findSlugs(query)).toEqual(slugs)
  })

  it('finds by the id of a tag, whole or in part', async () => {
    expect(await findSlugs(`check_tag_id:${tagId}`)).toEqual(['firewall-on'])
    expect(await findSlugs(`check_tag_id~${tagId}`)).toEqual(['firewall-on'])
    expect(await findSlugs('check_tag_id:987654')).toEqual([])
    const tried = [...Object.keys(SEARCHES), 'check_tag_id:1', 'check_tag_id~1']
    expect(trialsOf(tried).filter((trial) => !trial.startsWith('check_slug'))).toEqual(
      toTrials(CHECK_LIST.fields),
    )
  })
})

describe('GET /checks/{id}', () => {
  describeRecordContract({ api: () => api, path: () => `/checks/${ids.firewall}` })

  it('shows everything about a check that comes with the service, without its SQL', async () => {
    const { status, body } = await api.request(`/checks/${ids.firewall}`)
    expect(status).toBe(200)
    expect(body).toEqual({
      id: ids.firewall,
      name: 'Firewall',
      slug: 'firewall-on',
      description: 'The firewall is on.',
      issue_title: 'The firewall is off',
      compatible_platforms: ['darwin', 'windows', 'linux'],
      topics: ['network'],
      check_tags: [
        {
          id: tagId,
          name: 'Critical',
          description: 'Fix it today',
          color: 'rgba(200, 0, 0, 1)',
        },
        {
          id: expect.any(String) as string,
          name: 'Net',
          description: '',
          color: 'rgba(0, 0, 0, 1)',
        },
      ],
      fix_instructions_template: 'Switch it on.',
      rationale_template: 'Our insurer asks for it.',
      remediation_strategy: 'warn_then_block',
      paused: false,
      blocks_auth_configuration: {
        blocking_enabled: true,
        grace_period_days: 7,
        blocking_group_names: ['linux'],
        blocking_exempt_group_names: ['Kiosks'],
      },
      targeting_configuration: {
        targeted_groups: ['Sales', 'darwin'],
        excluded_groups: ['Kiosks'],
      },
      percent_passing: 66,
      kolide_provided: true,
      type: 'osquery',
    })
  })

  it('shows the SQL of a custom check', async () => {
    const { body } = await api.request(`/checks/${ids.custom}`)
    expect(body).toMatchObject({
      osquery_sql_template: 'select 2 as own',
      fix_instructions_template: 'Ask the help desk.',
      percent_passing: 100,
      kolide_provided: false,
      type: 'custom',
    })
  })

  it('shows empty lists, no blocking and nothing passing for a check that nobody configured', async () => {
    const { body } = await api.request(`/checks/${ids.bare}`)
    expect(body).toMatchObject({
      topics: [],
      check_tags: [],
      blocks_auth_configuration: {
        blocking_enabled: false,
        grace_period_days: 0,
        blocking_group_names: [],
        blocking_exempt_group_names: [],
      },
      targeting_configuration: { targeted_groups: [], excluded_groups: [] },
      percent_passing: 0,
    })
  })

  it('names only platforms that checks have queries for', async () => {
    const id = await insertCheck(api.db, { platforms: ['android', 'linux', 'darwin', 'ios'] })
    const { status, body } = await api.request(`/checks/${id}`)
    expect(status).toBe(200)
    expect(body).toMatchObject({ compatible_platforms: ['darwin', 'linux'] })
  })

  it('shows the same in the list', async () => {
    const { body: check } = await api.request(`/checks/${ids.firewall}`)
    const { body } = await api.request<{ data: unknown[] }>('/checks?query=slug:firewall-on')
    expect(body.data).toEqual([check])
  })
})
