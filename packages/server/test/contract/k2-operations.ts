/*
 * The operations of the K2 API, what each answers with, and what its lists can be searched by, as its
 * published description has them. Facts, not a copy of what this service does.
 */

export interface K2Operation {
  /** The object of `k2-objects.ts`; a list has them in `data`. Null for rows of any columns. */
  readonly answers: string | null
  readonly isList: boolean
  /** By operators, as in `name:~`. */
  readonly searchableFields: readonly string[]
  /** Only in the newer of the two versions. */
  readonly isNew: boolean
}

const one = (answers: string): K2Operation => ({
  answers,
  isList: false,
  searchableFields: [],
  isNew: false,
})
const list = (answers: string | null, searchableFields = ''): K2Operation => ({
  answers,
  isList: true,
  searchableFields: searchableFields.split(' ').filter((field) => field !== ''),
  isNew: false,
})
const isNew = (operation: K2Operation): K2Operation => ({ ...operation, isNew: true })

const DEVICE_FIELDS =
  'id: name:~ registered_at:<> last_authenticated_at:<> serial:~ note:~ hardware_uuid:~ device_type: will_block_at:<>'
const ISSUE_FIELDS =
  'id: detected_at:<> resolved_at:<> blocks_device_at:<> last_rechecked_at:<> title:~ issue_key:~ issue_value:~ exempted: check_id:~ device_id:~'
const RESULT_FIELDS = 'device_display_name:~ ran_at:<> check_name:~ status:'
const PERSON_FIELDS = 'id: email:~ name:~ last_authenticated_at:<>'
const REQUEST_FIELDS = 'status: requested_at:<> requester_message:~'

/** By method and path. */
export const K2_OPERATIONS: Readonly<Record<string, K2Operation>> = {
  'GET /whoami': one('WhoAmI'),
  'GET /devices': list('Device', DEVICE_FIELDS),
  'GET /device_groups/{id}/devices': list('Device', DEVICE_FIELDS),
  'GET /people/{id}/registered_devices': list('Device', DEVICE_FIELDS),
  'GET /devices/{id}': one('Device'),
  'DELETE /devices/{id}': one('Device'),
  'GET /devices/{id}/open_issues': list('Issue', ISSUE_FIELDS),
  'GET /people/{id}/open_issues': list('Issue', ISSUE_FIELDS),
  'GET /issues': list('Issue', ISSUE_FIELDS),
  'GET /issues/{id}': one('Issue'),
  'GET /devices/{id}/check_results': list('CheckResult', RESULT_FIELDS),
  'GET /checks/{id}/results': list('CheckResult', RESULT_FIELDS),
  'PATCH /devices/{id}/authentication_mode': one('DeviceAuthenticationMode'),
  'PUT /devices/{id}/authentication_mode': one('DeviceAuthenticationMode'),
  'DELETE /devices/{id}/registration': one('DeviceRegistration'),
  'POST /devices/{id}/check_refreshes': one('CheckRefresh'),
  'GET /device_groups': list('DeviceGroup', 'created_at:<> name:~ description:~'),
  'GET /device_groups/{id}': one('DeviceGroup'),
  'POST /device_groups/{id}/memberships': list('DeviceGroupMember'),
  'DELETE /device_groups/{id}/memberships/{device_id}': one('DeviceGroupMember'),
  'GET /people': list('Person', PERSON_FIELDS),
  'GET /person_groups/{id}/people': list('Person', PERSON_FIELDS),
  'GET /deprovisioned_people': list('DeprovisionedPerson', PERSON_FIELDS),
  'GET /people/{id}': one('Person'),
  'GET /person_groups': list('PersonGroup', 'name:~'),
  'GET /people/{id}/person_groups': list('PersonGroup', 'name:~'),
  'GET /person_groups/{id}': one('PersonGroup'),
  'GET /checks': list(
    'Check',
    'name:~ check_description:~ check_tag_name:~ check_tag_description:~ check_tag_id:~ slug:~ check_slug:~ type:',
  ),
  'GET /checks/{id}': one('Check'),
  'GET /checks/{id}/configurations': one('CheckConfiguration'),
  'PATCH /checks/{id}/configurations': one('CheckConfiguration'),
  'PUT /checks/{id}/configurations': one('CheckConfiguration'),
  'POST /checks/{id}/runs': one('ExternalCheckRun'),
  'GET /custom_check_drafts': isNew(list('CustomCheckDraft', 'name:~ slug:~ id:~ created_at:<>')),
  'GET /custom_check_drafts/{id}': isNew(one('CustomCheckDraft')),
  'DELETE /custom_check_drafts/{id}': isNew(one('CustomCheckDraft')),
  'GET /exemption_requests': list('ExemptionRequest', REQUEST_FIELDS),
  'GET /exemption_requests/{id}': one('ExemptionRequest'),
  'PATCH /exemption_requests/{id}': one('ExemptionRequest'),
  'PUT /exemption_requests/{id}': one('ExemptionRequest'),
  'GET /registration_requests': list('RegistrationRequest', REQUEST_FIELDS),
  'GET /registration_requests/{id}': one('RegistrationRequest'),
  'PATCH /registration_requests/{id}': one('RegistrationRequest'),
  'PUT /registration_requests/{id}': one('RegistrationRequest'),
  'GET /auth_logs': list(
    'AuthLog',
    'timestamp:<> city:~ country:~ ip_address:~ agent_version:~ browser_name:~ person_name:~ person_email:~ person_id:~ device_id:~ result:',
  ),
  'GET /auth_logs/{id}': one('AuthLog'),
  'GET /audit_logs': list('AuditLog', 'timestamp:<> actor_name:~ description:~'),
  'GET /audit_logs/{id}': one('AuditLog'),
  'GET /live_query_campaigns': list(
    'LiveQueryCampaign',
    'created_at:<> name:~ published: tables_used:~',
  ),
  'POST /live_query_campaigns': one('LiveQueryCampaign'),
  'GET /live_query_campaigns/{id}': one('LiveQueryCampaign'),
  'PATCH /live_query_campaigns/{id}': one('LiveQueryCampaign'),
  'PUT /live_query_campaigns/{id}': one('LiveQueryCampaign'),
  'DELETE /live_query_campaigns/{id}': one('LiveQueryCampaign'),
  'GET /live_query_campaigns/{id}/query_results': list(
    'LiveQueryResult',
    'error_message:~ warning_message:~',
  ),
  'GET /packages': list('Package'),
  'GET /packages/{id}': one('Package'),
  'GET /admin_users': list('AdminUser', 'first_name:~ last_name:~ email:~ created_at:<>'),
  'GET /admin_users/{id}': one('AdminUser'),
  'GET /reporting/tables': list('ReportingTable'),
  'GET /reporting/tables/{name}': one('ReportingTable'),
  'GET /reporting/tables/{name}/table_records': list(null),
  'GET /reporting/queries': list('ReportQuery'),
  'GET /reporting/queries/{id}': one('ReportQuery'),
  'GET /reporting/queries/{id}/results': list(null),
}
