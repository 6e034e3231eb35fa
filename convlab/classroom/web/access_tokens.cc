// Creates, revokes and looks up students' tokens.

#include "convlab/classroom/web/access_tokens.h"

#include "convlab/base/clock.h"
#include "convlab/classroom/secrets.h"
#include "convlab/classroom/sha256.h"
#include "convlab/classroom/spool.h"

namespace convlab::classroom {
std::string make_token(Store& store, const std::string& student) {
  require_student_name(student);
  std::string token = random_hex(kSecretBytes);
  Transaction transaction(store.database());
  store.database().run("INSERT OR REPLACE INTO tokens (student, hash, made_s) VALUES (?, ?, ?)",
                       store.student(student).id, sha256(token), unix_seconds());
  transaction.commit();
  return token;
}

bool revoke_token(Store& store, const std::string& student) {
  return store.database().run("DELETE FROM tokens WHERE student IN (SELECT id FROM students WHERE name = ?)", student) >
         0;
}

std::optional<Student> student_of_token(Store& store, const std::string& token) {
  const auto rows = store.database().query(
      "SELECT id, name, secret FROM students JOIN tokens ON student = id WHERE hash = ?", sha256(token));
  if (!rows->next()) return std::nullopt;
  return Student{rows->integer(0), rows->text(1), rows->text(2)};
}

std::vector<TokenHolder> token_holders(Store& store) {
  std::vector<TokenHolder> all;
  const auto rows =
      store.database().query("SELECT name, made_s FROM students JOIN tokens ON student = id ORDER BY name");
  while (rows->next()) all.push_back({rows->text(0), rows->real(1)});
  return all;
}

}  // namespace convlab::classroom
