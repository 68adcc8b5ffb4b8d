/* What is so: open issues, what led here, and the facts of a device. */
import type { UseQueryResult } from '@tanstack/react-query'
import type { Device, Issue } from '../api/generated/types.gen.ts'
import { Copyable } from '../kit/copyable.tsx'
import { Facts, Section } from '../kit/page.tsx'
import { Time } from '../kit/time.tsx'
import { IssueTable } from './issue-table.tsx'
import { DeviceTimeline } from './device-timeline.tsx'
import classes from './device-page.module.css'
import { PersonName } from './person-name.tsx'
import { texts } from './texts.ts'

interface OverviewProps {
  readonly device: Device
  readonly issues: UseQueryResult<readonly Issue[]>
}

export function DeviceOverview({ device, issues }: OverviewProps) {
  return (
    <div className={classes.columns}>
      <div className={classes.column}>
        <Section title={texts.issues} isFlush>
          <IssueTable name={texts.issues} issues={issues} empty={texts.noIssues} />
        </Section>
        <Section title={texts.timeline} lead={texts.timelineLead}>
          <DeviceTimeline device={device} />
        </Section>
      </div>
      <Section title={texts.facts}>
        <DeviceFacts device={device} />
      </Section>
    </div>
  )
}

function DeviceFacts({ device }: { readonly device: Device }) {
  const { factsOf } = texts
  const mode = device.auth_configuration
  const groups = mode?.person_groups.map(({ name }) => name).join(', ') ?? ''
  return (
    <Facts
      facts={[
        [texts.owner, <PersonName link={device.registered_owner_info} />],
        [factsOf.registered, <Time at={device.registered_at} absent={texts.unregistered} />],
        [
          factsOf.mode,
          mode === null
            ? texts.unregistered
            : `${texts.modes[mode.authentication_mode]}${groups === '' ? '' : ` (${groups})`}`,
        ],
        [factsOf.seen, <Time at={device.last_seen_at} />],
        [factsOf.authenticated, <Time at={device.last_authenticated_at} />],
        [factsOf.system, device.operating_system],
        [factsOf.model, device.hardware_model],
        [factsOf.serial, device.serial === null ? '–' : <Copyable value={device.serial} />],
        [
          factsOf.uuid,
          device.hardware_uuid === null ? '–' : <Copyable value={device.hardware_uuid} />,
        ],
        [factsOf.id, <Copyable value={device.id} />],
        ...(device.note === null || device.note === ''
          ? []
          : [[factsOf.note, <p className={classes.note}>{device.note}</p>] as const]),
      ]}
    />
  )
}
