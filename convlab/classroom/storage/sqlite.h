#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

struct sqlite3;
struct sqlite3_stmt;

namespace convlab::classroom {

/// The rows that a statement gives. It must end before its Database.
class Rows {
 public:
  Rows(sqlite3* database, const std::string& place, std::string_view sql);
  ~Rows();
  Rows(const Rows&) = delete;
  Rows& operator=(const Rows&) = delete;

  void bind(int64_t value);
  void bind(double value);
  void bind(std::string_view value);
  template <class T>
  void bind(const std::optional<T>& value) {
    value ? bind(*value) : bind_null();
  }

  /// False after the last row.
  bool next();

  // Columns count from 0.
  int64_t integer(int column) const;
  double real(int column) const;
  std::string text(int column) const;
  bool is_null(int column) const;
  std::optional<double> real_if_there(int column) const;

 private:
  void bind_null();
  void require(int code) const;

  sqlite3* database_;
  sqlite3_stmt* statement_ = nullptr;
  std::string place_;
  int bound_ = 0;
};

/// What a Database is opened for. Who only reads takes no lock, and keeps nobody from writing.
enum class Access { write, read_only };

/// An SQLite file that several processes share: its log is written ahead (WAL), so that readers never wait, and one
/// process at a time writes; the others wait for it up to ten seconds. Error(bad_input) with the file and what to do
/// where it is locked for longer, damaged, no database, or the disk is full.
class Database {
 public:
  explicit Database(const std::filesystem::path& path, Access access = Access::write);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Values take the places of the question marks.
  template <class... Values>
  std::unique_ptr<Rows> query(std::string_view sql, const Values&... values) {
    auto rows = std::make_unique<Rows>(database_, place_, sql);
    (rows->bind(values), ...);
    return rows;
  }

  /// The number of rows that it changed.
  template <class... Values>
  int64_t run(std::string_view sql, const Values&... values) {
    query(sql, values...)->next();
    return changes();
  }

  /// Several statements without values.
  void script(const std::string& sql);

  /// The id of the row that was inserted last.
  int64_t last_id() const;

 private:
  friend class Transaction;
  int64_t changes() const;

  sqlite3* database_ = nullptr;
  std::string place_;
};

/// From here to commit() this process alone writes; without commit() nothing has happened.
class Transaction {
 public:
  explicit Transaction(Database& database);
  ~Transaction();
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;

  void commit();

 private:
  Database& database_;
  bool open_ = true;
};

}  // namespace convlab::classroom
