/* The form of a live query. */
import { Button, Group, Stack, TextInput } from '@mantine/core'
import { PlayIcon } from '@primer/octicons-react'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../api/client.ts'
import { patchLiveQueryCampaignsById, postLiveQueryCampaigns } from '../api/generated/sdk.gen.ts'
import type { LiveQueryCampaign } from '../api/generated/types.gen.ts'
import { changedMembers } from '../kit/changed-members.ts'
import { ConfirmDialog, Fault } from '../kit/confirm.tsx'
import { Section } from '../kit/page.tsx'
import { SqlEditor } from '../kit/sql-editor.tsx'
import { UnsavedWork } from '../kit/unsaved-work.tsx'
import { useAction } from '../kit/use-action.ts'
import { useMay } from '../shell/session.ts'
import { CostNotes } from './cost-notes.tsx'
import classes from './live-queries.module.css'
import { TargetChoice } from './target-choice.tsx'
import { readTargets, toTargetInput, type Targets } from './targets.ts'
import { texts } from './texts.ts'

interface QueryFormProps {
  /** The query that is edited; a new one when left out. */
  readonly campaign?: LiveQueryCampaign
}

export function QueryForm({ campaign }: QueryFormProps) {
  const [initial] = useState(() => readQuestion(campaign))
  const [name, setName] = useState(initial.name)
  const [sql, setSql] = useState(initial.sql)
  const [targets, setTargets] = useState<Targets>(initial.targets)
  const [isStopping, setStopping] = useState(false)
  const navigate = useNavigate()
  const may = useMay('Create Live Query')
  const save = useAction({
    run: async (published: boolean) => {
      const body = toInput({ name, sql, targets })
      const { data } =
        campaign === undefined
          ? await postLiveQueryCampaigns({ body: { ...body, published }, throwOnError: true })
          : await patchLiveQueryCampaignsById({
              path: { id: campaign.id },
              body: { ...changedMembers(body, toInput(initial)), published },
              throwOnError: true,
            })
      return { ...data, isAskedAnew: data.asked_at !== campaign?.asked_at }
    },
    done: ({ isAskedAnew }, published) => toDone(published, isAskedAnew),
    changes: [['live_query_campaigns']],
    showsFailure: true,
    onDone: ({ id }) => void navigate({ to: '/live-queries/$id', params: { id } }),
  })
  const faults = save.error instanceof ApiError ? save.error.fields : {}
  const targetFault = Object.entries(faults).find(([path]) => path.startsWith('target'))?.[1]
  const isNamed = faults['name'] !== undefined || faults['sql'] !== undefined
  const isComplete = name.trim() !== '' && sql.trim() !== ''
  const isChanged = JSON.stringify({ name, sql, targets }) !== JSON.stringify(initial)
  const ask = () => {
    if (may && isComplete && !save.isPending) save.mutate(true)
  }
  return (
    // Enter in a field asks nobody: that takes the button, or the keys of the editor.
    <form onSubmit={(event) => event.preventDefault()}>
      <UnsavedWork isUnsaved={may && isChanged} isPending={save.isPending} />
      <div className={classes.columns}>
        <Section title={texts.question}>
          <Stack gap="md">
            <TextInput
              label={texts.name}
              value={name}
              error={faults['name']}
              onChange={(event) => setName(event.currentTarget.value)}
              required
              maw={520}
            />
            <SqlEditor
              label={texts.sql}
              description={texts.sqlHelp}
              value={sql}
              onChange={setSql}
              onRun={ask}
              error={faults['sql']}
              lines={12}
            />
          </Stack>
        </Section>
        <div className={classes.column}>
          <Section title={texts.targets} lead={texts.targetsHelp}>
            <TargetChoice targets={targets} onChange={setTargets} fault={targetFault} />
          </Section>
          <Section title={texts.cost}>
            <CostNotes sql={sql} />
          </Section>
          {isNamed || targetFault !== undefined ? null : <Fault error={save.error} />}
          <FormButtons
            mayAsk={may}
            isComplete={isComplete}
            pending={save.isPending ? (save.variables ? 'ask' : 'draft') : undefined}
            isAsking={campaign?.published === true}
            onAsk={ask}
            onKeep={() => (campaign?.published === true ? setStopping(true) : save.mutate(false))}
          />
        </div>
      </div>
      <ConfirmDialog
        isOpen={isStopping}
        title={texts.withdrawTitle}
        label={texts.withdraw}
        isPending={save.isPending}
        error={save.error}
        onConfirm={() => save.mutate(false)}
        onClose={() => setStopping(false)}
      >
        {texts.withdrawText}
      </ConfirmDialog>
    </form>
  )
}

/** What is said when it is saved. Devices that are asked the same already are not asked anew. */
function toDone(isPublished: boolean, isAskedAnew: boolean): string {
  if (!isPublished) return texts.saved
  return isAskedAnew ? texts.askedNow : texts.askedAlready
}

interface Question {
  readonly name: string
  readonly sql: string
  readonly targets: Targets
}

function readQuestion(campaign: LiveQueryCampaign | undefined): Question {
  const { name = '', osquery_sql: sql = '' } = campaign ?? {}
  return { name, sql, targets: readTargets(campaign) }
}

function toInput({ name, sql, targets }: Question) {
  return { name, sql, ...toTargetInput(targets) }
}

interface FormButtonsProps {
  readonly mayAsk: boolean
  readonly isComplete: boolean
  readonly pending: 'ask' | 'draft' | undefined
  /** Devices are being asked: who keeps it as a draft withdraws it. */
  readonly isAsking: boolean
  readonly onAsk: () => void
  readonly onKeep: () => void
}

function FormButtons(props: FormButtonsProps) {
  const { mayAsk, isComplete, pending, isAsking, onAsk, onKeep } = props
  return (
    <Group justify="flex-end" gap="xs">
      <Button
        variant="default"
        disabled={!mayAsk || !isComplete}
        loading={pending === 'draft'}
        onClick={onKeep}
      >
        {isAsking ? texts.withdraw : texts.saveDraft}
      </Button>
      <Button
        onClick={onAsk}
        leftSection={<PlayIcon size={14} />}
        disabled={!mayAsk || !isComplete}
        title={mayAsk ? undefined : texts.askPermission}
        loading={pending === 'ask'}
      >
        {texts.ask}
      </Button>
    </Group>
  )
}
