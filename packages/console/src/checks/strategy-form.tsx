/* The form of a check's strategy, beside what a change would do. */
import { Button, Group, Stack } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { patchChecksByIdConfigurations } from '../api/generated/sdk.gen.ts'
import type { CheckConfiguration } from '../api/generated/types.gen.ts'
import { ConfirmDialog } from '../kit/confirm.tsx'
import { MeanwhileBar, useMeanwhile } from '../kit/meanwhile.tsx'
import { Section } from '../kit/page.tsx'
import { UnsavedWork } from '../kit/unsaved-work.tsx'
import { useAction } from '../kit/use-action.ts'
import { useMay } from '../shell/session.ts'
import classes from './checks.module.css'
import { configurationQuery } from './configuration-query.ts'
import { ImpactPreview, useImpact } from './impact-preview.tsx'
import { StrategyFields } from './strategy-fields.tsx'
import { useStrategyWords } from './strategy-words.ts'
import { texts } from './texts.ts'
import { toChanges, toWanted, type Wanted } from './wanted-configuration.ts'

interface StrategyFormProps {
  readonly checkId: string
  readonly saved: CheckConfiguration
}

/** Only what was changed here is saved: what others save meanwhile is seen and stays theirs. */
export function StrategyForm({ checkId, saved }: StrategyFormProps) {
  const may = useMay('Manage Checks')
  const queryClient = useQueryClient()
  const [isAsking, setAsking] = useState(false)
  const current = toWanted(saved)
  const form = useForm<Wanted>({ initialValues: current })
  const meanwhile = useMeanwhile(form, current)
  const changes = toChanges(meanwhile.saved, form.values)
  const isChanged = Object.keys(changes).length > 0
  const impact = useImpact(checkId, changes, may && isChanged)
  const moving = impact.error === null ? impact.data?.moving_count : undefined
  const save = useAction({
    run: async () => {
      const request = { path: { id: checkId }, body: changes, throwOnError: true } as const
      return (await patchChecksByIdConfigurations(request)).data
    },
    done: texts.saved,
    changes: [['checks'], ['overview'], ['devices'], ['issues']],
    showsFailure: true,
    onDone: (configuration) => {
      queryClient.setQueryData(configurationQuery(checkId).queryKey, configuration)
      setAsking(false)
    },
  })
  return (
    <div className={classes.columns}>
      <UnsavedWork isUnsaved={may && isChanged} isPending={save.isPending} />
      <Section title={texts.change} {...(may ? {} : { lead: texts.mayNot })}>
        <Stack gap="md">
          <MeanwhileBar meanwhile={meanwhile} words={useStrategyWords()} />
          <StrategyFields
            wanted={form.values}
            isDisabled={!may}
            onChange={(next) => form.setValues(next)}
          />
          <Group justify="flex-end" gap="xs">
            <Button
              variant="default"
              disabled={!isChanged}
              onClick={() => form.setValues(meanwhile.saved)}
            >
              {texts.discard}
            </Button>
            <Button
              disabled={!may || !isChanged || !impact.isDecided}
              onClick={meanwhile.whenDecided(() => setAsking(true))}
            >
              {texts.save}
            </Button>
          </Group>
        </Stack>
      </Section>
      <ImpactPreview impact={impact} isChanged={isChanged} />
      <ConfirmDialog
        isOpen={isAsking}
        title={texts.saveTitle(moving)}
        label={texts.saveLabel(moving)}
        isPending={save.isPending || (isChanged && !impact.isDecided)}
        error={save.error}
        onConfirm={meanwhile.whenDecided(
          () => save.mutate(),
          () => setAsking(false),
        )}
        onClose={() => setAsking(false)}
      >
        {texts.saveHelp}
      </ConfirmDialog>
    </div>
  )
}
