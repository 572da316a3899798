import { cpSync, mkdtempSync, rmSync, chmodSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'vitest';
import { fixturesDir, loadGolden } from '../support/golden.ts';
import { composeList } from '../../src/web-ui/list/compose-list.ts';
import { listInputs, listRequest, readSidecars, readStore } from '../support/web-ui-rows.ts';
it('x', () => {
  const home = mkdtempSync(join(tmpdir(), 'x-'));
  cpSync(join(fixturesDir(), 'stores', 'webui-home'), home, { recursive: true });
  chmodSync(home, 0o700);
  const g = loadGolden<any>('webui-home', 'rest');
  const inputs = listInputs({ sidecars: readSidecars(join(home, 'webui', 'sessions')), store: readStore(join(home, 'state.db')), deleted: ['mw_dbonly_webui_deleted', 'mw_gone'],
   context: {lastWorkspace: '/srv/work', cronProjectId: 'cafecafecafe', webhookProjectId: null, cronJobNames: new Map()}});
  const out = composeList(inputs, listRequest());
  console.log(out.counts);
  const theirs = g.cases[81].result.sessions;
  console.log(out.shown.map(r=>[r.id,r.visibility.state,r.messageCount,r.updatedAt,r.lastMessageAt].join(' ')).join('\n'));
  console.log(out.rows.filter(r=>!r.visibility.shown).map(r=>[r.id,r.visibility.state,r.visibility.representedBy,[...r.origins]].join(' ')).join('\n'));
  console.log('missing', theirs.filter((t:any)=>!out.shown.some(r=>r.id===t.session_id)).map((t:any)=>t.session_id), 'extra', out.shown.filter(r=>!theirs.some((t:any)=>r.id===t.session_id)).map(r=>r.id));
  rmSync(home,{recursive:true,force:true});
});
