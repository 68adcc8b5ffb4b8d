import { z } from 'zod'
import { changeRoute } from '../../../changes/change-routes.ts'
import type { RouteFoundation } from '../../../changes/foundation.ts'
import { listRecords, loadRecords, showRecord, type ApiRoute } from '../../../schema/operations.ts'
import { deviceResource } from '../../devices/device-json.ts'
import { decideReenrollmentRequest } from './decide-reenrollment-request.ts'
import {
  reenrollmentRequestSchema,
  toReenrollmentRequestJson,
} from './reenrollment-request-json.ts'
import { REENROLLMENT_REQUEST_LIST, type ReenrollmentRequest } from './reenrollment-request-read.ts'

const tags = ['Requests']

/** Machines that ask to enroll as known devices: reading and deciding. */
export function reenrollmentRequestRoutes({ db, baseUrl, runChange }: RouteFoundation): ApiRoute[] {
  const requests = {
    db,
    list: REENROLLMENT_REQUEST_LIST,
    item: reenrollmentRequestSchema,
    toJson: (request: ReenrollmentRequest) => toReenrollmentRequestJson(baseUrl, request),
    expand: {
      device: { member: 'device_information', load: loadRecords(deviceResource(db, baseUrl)) },
    },
  }
  return [
    listRecords(requests, {
      tags,
      permission: null,
      path: '/reenrollment_requests',
      summary: 'List machines that ask to enroll as known devices',
    }),
    showRecord(requests, {
      tags,
      permission: null,
      path: '/reenrollment_requests/:id',
      summary: 'Show a machine that asks to enroll as a known device',
    }),
    changeRoute(runChange, {
      tags,
      permission: 'Manage Enrollment',
      method: 'PATCH',
      path: '/reenrollment_requests/:id',
      summary: 'Decide whether a machine may enroll as a known device',
      description:
        'An approval holds for one enrollment within 24 hours, from the same address, with the same host identifier, hardware and enrollment secret. The node key of the device ends with it; its owner stays. A denial holds until it is approved.',
      body: z.strictObject({ status: z.enum(['approved', 'denied']) }),
      example: { body: { status: 'approved' } },
      responses: { 200: reenrollmentRequestSchema },
      handler: async ({ change, params, body }) => {
        const request = await decideReenrollmentRequest(change, params.id, body.status)
        return toReenrollmentRequestJson(baseUrl, request)
      },
    }),
  ]
}
