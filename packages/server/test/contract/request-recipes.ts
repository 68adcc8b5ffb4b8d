import { read, type RecipeTable } from './recipe.ts'

export const REQUEST_RECIPES: RecipeTable = {
  'GET /exemption_requests': read(
    () => '/exemption_requests',
    () => ({ expand: 'requester,device,issues' }),
  ),
  'GET /exemption_requests/{id}': read(
    ({ exemptionRequest }) => `/exemption_requests/${exemptionRequest}`,
    () => ({ expand: 'requester,device,issues' }),
  ),
  'POST /exemption_requests': {
    prepare: async ({ newDevice, openIssueOf, ids }) => ({
      path: '/exemption_requests',
      body: {
        person_id: ids.person,
        issue_ids: [await openIssueOf(await newDevice())],
        requester_message: 'Please.',
      },
    }),
  },
  'PATCH /exemption_requests/{id}': {
    prepare: async ({ newDevice, openIssueOf, call, ids }) => {
      const request = await call('POST', '/exemption_requests', {
        person_email: 'ada@example.com',
        issue_ids: [await openIssueOf(await newDevice())],
        requester_message: `Please, says ${ids.person}.`,
      })
      return {
        path: `/exemption_requests/${String(request['id'])}`,
        body: { status: 'approved', internal_message: 'It is known.' },
      }
    },
  },
  'POST /exemption_requests/decisions': {
    prepare: async ({ newDevice, openIssueOf, call }) => {
      const request = await call('POST', '/exemption_requests', {
        person_email: 'ada@example.com',
        issue_ids: [await openIssueOf(await newDevice())],
        requester_message: 'Please.',
      })
      return {
        path: '/exemption_requests/decisions',
        body: { ids: [request['id']], status: 'approved', internal_message: 'It is known.' },
      }
    },
  },
  'POST /registration_requests/decisions': {
    prepare: async ({ newSpareDevice, call, ids }) => {
      const request = await call('POST', '/registration_requests', {
        person_id: ids.person,
        device_id: await newSpareDevice(),
        requester_message: 'Mine.',
      })
      return {
        path: '/registration_requests/decisions',
        body: { ids: [request['id']], status: 'denied', end_user_denial_message: 'It is not.' },
      }
    },
  },
  'GET /registration_requests': read(
    () => '/registration_requests',
    () => ({ expand: 'requester,device' }),
  ),
  'GET /registration_requests/{id}': read(
    ({ registrationRequest }) => `/registration_requests/${registrationRequest}`,
    () => ({ expand: 'requester,device' }),
  ),
  'POST /registration_requests': {
    prepare: async ({ newSpareDevice, ids }) => ({
      path: '/registration_requests',
      body: {
        person_id: ids.person,
        device_id: await newSpareDevice(),
        requester_message: 'Mine.',
      },
    }),
  },
  'GET /reenrollment_requests': read(
    () => '/reenrollment_requests',
    () => ({ expand: 'device' }),
  ),
  'GET /reenrollment_requests/{id}': read(
    ({ reenrollmentRequest }) => `/reenrollment_requests/${reenrollmentRequest}`,
    () => ({ expand: 'device' }),
  ),
  'PATCH /reenrollment_requests/{id}': {
    prepare: ({ ids }) => ({
      path: `/reenrollment_requests/${ids.reenrollmentRequest}`,
      body: { status: 'approved' },
    }),
  },
  'PATCH /registration_requests/{id}': {
    prepare: async ({ newSpareDevice, call, ids }) => {
      const request = await call('POST', '/registration_requests', {
        person_id: ids.person,
        device_id: await newSpareDevice(),
        requester_message: 'Mine.',
      })
      return {
        path: `/registration_requests/${String(request['id'])}`,
        body: { status: 'denied', end_user_denial_message: 'It is not.' },
      }
    },
  },
}
