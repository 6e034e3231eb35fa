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

/// A prepared statement and its result rows. It must be destroyed before its Database.
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

  /// Steps to the next row. Returns false after the last one.
  bool next();

  // Columns are numbered from 0.
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

/// Access mode of a Database. Read-only access needs no lock and never blocks writers.
enum class Access { write, read_only };

/// An SQLite file shared by several processes. It uses write-ahead logging (WAL), so readers never wait, and one
/// process writes at a time; others wait for up to ten seconds. Throws Error(bad_input), with the file and a remedy, if
/// it is locked for longer, damaged or not a database, or if the disk is full.
class Database {
 public:
  explicit Database(const std::filesystem::path& path, Access access = Access::write);
  ~Database();
  Database(const Database&) = delete;
  Database& operator=(const Database&) = delete;

  /// Prepares a statement. Values are bound to its question marks.
  template <class... Values>
  std::unique_ptr<Rows> query(std::string_view sql, const Values&... values) {
    auto rows = std::make_unique<Rows>(database_, place_, sql);
    (rows->bind(values), ...);
    return rows;
  }

  /// Runs a statement and returns the number of rows it changed.
  template <class... Values>
  int64_t run(std::string_view sql, const Values&... values) {
    query(sql, values...)->next();
    return changes();
  }

  /// Runs several statements without values.
  void script(const std::string& sql);

  /// Returns the id of the last inserted row.
  int64_t last_id() const;

 private:
  friend class Transaction;
  int64_t changes() const;

  sqlite3* database_ = nullptr;
  std::string place_;
};

/// Holds the write lock until commit() or destruction. Without commit(), the changes are rolled back.
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
