/** The process behind `writer.ts`: it runs what it is told on one connection, in order. */
import Database from 'better-sqlite3';
import type { WriterAnswer, WriterRequest } from './writer.ts';

const [path = '', timeout = '1000'] = process.argv.slice(2);

const db = new Database(path, { fileMustExist: true, timeout: Number(timeout) });
db.pragma('foreign_keys = OFF');
db.pragma('synchronous = FULL');

function answer(message: WriterAnswer): void {
  process.send?.(message);
}

function run(request: WriterRequest): unknown {
  const runAll = (): unknown[] =>
    request.statements.map(({ sql, params }) => {
      const statement = db.prepare(sql);
      return statement.reader ? statement.all(...params) : statement.run(...params);
    });
  return request.kind === 'transaction' ? db.transaction(runAll).immediate() : runAll();
}

process.on('message', (request: WriterRequest) => {
  try {
    answer({ id: request.id, results: run(request) as unknown[] });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : null;
    answer({ id: request.id, error: { message: error instanceof Error ? error.message : String(error), code } });
  }
});
process.on('disconnect', () => {
  db.close();
});
answer({ id: 0, results: [] });
