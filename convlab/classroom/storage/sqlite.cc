// Wraps SQLite.

#include "convlab/classroom/storage/sqlite.h"

#include <sqlite3.h>

#include "convlab/base/error.h"

namespace convlab::classroom {
namespace {

constexpr int kWaitMs = 10'000;

/// Mask of the primary result code: the low byte of SQLite's extended codes.
constexpr int kPrimary = 0xff;

[[noreturn]] void fail(sqlite3* database, const std::string& place, int code) {
  const std::string said = database == nullptr ? sqlite3_errstr(code) : sqlite3_errmsg(database);
  switch (code & kPrimary) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      throw bad_input("{}: locked by another process for {} s; try again or stop that process", place, kWaitMs / 1000);
    case SQLITE_FULL:
      throw bad_input("{}: the disk is full; free some space (no data is lost)", place);
    case SQLITE_IOERR:
      throw bad_input("{}: cannot read or write ({}); check whether the disk is full or failing", place, said);
    case SQLITE_READONLY:
    case SQLITE_CANTOPEN:
    case SQLITE_PERM:
      throw bad_input("{}: cannot write ({}); only the class owner may", place, said);
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
      throw bad_input("{} is damaged ({}); restore it from a backup", place, said);
    default:
      throw bad_input("{}: {}", place, said);
  }
}

}  // namespace

Rows::Rows(sqlite3* database, const std::string& place, std::string_view sql) : database_(database), place_(place) {
  require(sqlite3_prepare_v2(database, sql.data(), static_cast<int>(sql.size()), &statement_, nullptr));
}

Rows::~Rows() { sqlite3_finalize(statement_); }

void Rows::require(int code) const {
  if (code != SQLITE_OK) fail(database_, place_, code);
}

void Rows::bind(int64_t value) { require(sqlite3_bind_int64(statement_, ++bound_, value)); }
void Rows::bind(double value) { require(sqlite3_bind_double(statement_, ++bound_, value)); }
void Rows::bind_null() { require(sqlite3_bind_null(statement_, ++bound_)); }
void Rows::bind(std::string_view value) {
  // An empty view may hold a null pointer, which SQLite would bind as NULL.
  const char* text = value.empty() ? "" : value.data();
  require(sqlite3_bind_text(statement_, ++bound_, text, static_cast<int>(value.size()), SQLITE_TRANSIENT));
}

bool Rows::next() {
  const int code = sqlite3_step(statement_);
  if (code != SQLITE_ROW && code != SQLITE_DONE) fail(database_, place_, code);
  return code == SQLITE_ROW;
}

int64_t Rows::integer(int column) const { return sqlite3_column_int64(statement_, column); }
double Rows::real(int column) const { return sqlite3_column_double(statement_, column); }
bool Rows::is_null(int column) const { return sqlite3_column_type(statement_, column) == SQLITE_NULL; }

std::string Rows::text(int column) const {
  const auto* bytes = reinterpret_cast<const char*>(sqlite3_column_text(statement_, column));
  return {bytes == nullptr ? "" : bytes, static_cast<size_t>(sqlite3_column_bytes(statement_, column))};
}

std::optional<double> Rows::real_if_there(int column) const {
  return is_null(column) ? std::nullopt : std::optional(real(column));
}

Database::Database(const std::filesystem::path& path, Access access) : place_(path.string()) {
  const int flags = access == Access::write ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE : SQLITE_OPEN_READONLY;
  const int code = sqlite3_open_v2(path.c_str(), &database_, flags, nullptr);
  try {
    if (code != SQLITE_OK) fail(database_, place_, code);
    sqlite3_busy_timeout(database_, kWaitMs);
    if (access == Access::write)
      script("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON;");
  } catch (...) {
    sqlite3_close(database_);
    throw;
  }
}

Database::~Database() { sqlite3_close(database_); }

void Database::script(const std::string& sql) {
  const int code = sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr);
  if (code != SQLITE_OK) fail(database_, place_, code);
}

int64_t Database::changes() const { return sqlite3_changes(database_); }
int64_t Database::last_id() const { return sqlite3_last_insert_rowid(database_); }

Transaction::Transaction(Database& database) : database_(database) { database.script("BEGIN IMMEDIATE"); }

Transaction::~Transaction() {
  if (open_) sqlite3_exec(database_.database_, "ROLLBACK", nullptr, nullptr, nullptr);
}

void Transaction::commit() {
  database_.script("COMMIT");
  open_ = false;
}

}  // namespace convlab::classroom
