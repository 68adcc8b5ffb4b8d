/* The form of a live query. */
import { Button, Group, Stack, TextInput } from '@mantine/core'
import { PlayIcon } from '@primer/octicons-react'
import { useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { ApiError } from '../api/client.ts'
import { patchLiveQueryCampaignsById, postLiveQueryCampaigns } from '../api/generated/sdk.gen.ts'
import type { LiveQueryCampaign } from '../api/generated/types.gen.ts'
import { Fault } from '../kit/confirm.tsx'
import { Section } from '../kit/page.tsx'
import { SqlEditor } from '../kit/sql-editor.tsx'
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
  const [name, setName] = useState(campaign?.name ?? '')
  const [sql, setSql] = useState(campaign?.osquery_sql ?? '')
  const [targets, setTargets] = useState<Targets>(() => readTargets(campaign))
  const navigate = useNavigate()
  const may = useMay('Create Live Query')
  const save = useAction({
    run: async (published: boolean) => {
      const body = { name, sql, ...toTargetInput(targets), published }
      const { data } =
        campaign === undefined
          ? await postLiveQueryCampaigns({ body, throwOnError: true })
          : await patchLiveQueryCampaignsById({
              path: { id: campaign.id },
              body,
              throwOnError: true,
            })
      return data
    },
    done: (_, published) => (published ? texts.askedNow : texts.saved),
    changes: [['live_query_campaigns']],
    showsFailure: true,
    onDone: ({ id }) => void navigate({ to: '/live-queries/$id', params: { id } }),
  })
  const faults = save.error instanceof ApiError ? save.error.fields : {}
  const targetFault = Object.entries(faults).find(([path]) => path.startsWith('target'))?.[1]
  const isNamed = faults['name'] !== undefined || faults['sql'] !== undefined
  const isComplete = name.trim() !== '' && sql.trim() !== ''
  const ask = () => {
    if (may && isComplete && !save.isPending) save.mutate(true)
  }
  return (
    <form
      onSubmit={(event) => {
        event.preventDefault()
        ask()
      }}
    >
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
            onKeep={() => save.mutate(false)}
          />
        </div>
      </div>
    </form>
  )
}

interface FormButtonsProps {
  readonly mayAsk: boolean
  readonly isComplete: boolean
  readonly pending: 'ask' | 'draft' | undefined
  readonly onKeep: () => void
}

function FormButtons({ mayAsk, isComplete, pending, onKeep }: FormButtonsProps) {
  return (
    <Group justify="flex-end" gap="xs">
      <Button
        variant="default"
        disabled={!mayAsk || !isComplete}
        loading={pending === 'draft'}
        onClick={onKeep}
      >
        {texts.saveDraft}
      </Button>
      <Button
        type="submit"
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
