import type { CatalogueEntry } from './catalogue-entry.ts'
import { activeUnitsSql, isEmptySql, likeAnySql, quoteListSql, verdictSql } from './verdict-sql.ts'

// Their processes carry the same names.
const SYSTEM_EXTENSIONS = [
  'com.crowdstrike.falcon.%',
  'com.eset.%',
  'com.jamf.protect.%',
  'com.microsoft.wdav.%',
  'com.paloaltonetworks.traps.%',
  'com.sentinelone.%',
  'com.sophos.endpoint.%',
  'com.vmware.carbonblack.%',
  'co.elastic.%',
]

const WINDOWS_SERVICES = [
  'CbDefense',
  'CSFalconService',
  'cyserver',
  'ekrn',
  'Elastic Agent',
  'Sense',
  'SentinelAgent',
  'Sophos Endpoint Defense Service',
  'WazuhSvc',
]

const LINUX_UNITS = [
  'cbagentd.service',
  'elastic-agent.service',
  'falcon-sensor.service',
  'mdatp.service',
  'sentinelone.service',
  'sophos-spl.service',
  'traps_pmd.service',
  'wazuh-agent.service',
]

// Something runs on every system, so that an empty list could not be read.
const found = (running: string, sensors: string) =>
  verdictSql({
    facts: { sensors },
    cases: [
      ['PASS', `COALESCE(sensors, '') <> ''`],
      ['UNKNOWN', isEmptySql(running)],
    ],
    otherwise: 'FAIL',
  })

/** A sensor that detects and reports attacks is running. */
export const endpointDetectionRunning: CatalogueEntry = {
  slug: 'endpoint-detection-running',
  revision: 2,
  name: 'Endpoint detection running',
  description:
    'A sensor for endpoint detection and response is running: Carbon Black, Cortex XDR, CrowdStrike Falcon, Elastic, ESET, Jamf Protect, Microsoft Defender for Endpoint, SentinelOne, Sophos or Wazuh.',
  issueTitle: 'No endpoint detection is running',
  topics: ['malware'],
  tags: ['Info'],
  queries: {
    darwin: found(
      'processes',
      `SELECT group_concat(name, ', ') FROM (
    SELECT identifier AS name FROM system_extensions WHERE state = 'activated_enabled' AND ${likeAnySql('identifier', SYSTEM_EXTENSIONS)}
    UNION SELECT name FROM processes WHERE ${likeAnySql('name', SYSTEM_EXTENSIONS)})`,
    ),
    windows: found(
      'services',
      `SELECT group_concat(name, ', ') FROM services WHERE status = 'RUNNING' AND name IN (${quoteListSql(WINDOWS_SERVICES)})`,
    ),
    linux: found('systemd_units', activeUnitsSql(LINUX_UNITS)),
  },
  rationaleTemplate: `A detection sensor tells the security team of {{ organisation.name | default: "your organisation" }} when someone breaks into {{ device.name }}. Without one a break-in can stay unseen for months.`,
  fix: `1. Restart the device. A sensor that was just updated often runs again after that.
2. On a Mac open the Apple menu > **System Settings** > **General** > **Login Items & Extensions** > **Endpoint Security Extensions** and switch the sensor on.
3. If the issue stays, ask your IT team to install the sensor of your organisation. Do not install one yourself.`,
  privacyInfo: 'Which of the sensors listed above are running. Nothing that they have found.',
  defaultStrategy: 'report_only',
  strategyReason: 'Only organisations that have a sensor should expect one; those may well block.',
  shelfLife: 'software',
}
