#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace convlab::classroom {

/// The class folder and its layout.
///
///   class.toml   the teacher's settings, see class_settings.h
///   public/      problem texts, shapes and starter files; queue.json and rankings.json
///   secret/      mode 0700: a file with seed and shapes per assignment
///   spool/       mode 03733: submissions written by students, see spool.h
///   answers/     mode 0711: a file per student, named by their secret, see class_answers.h; and notes, named by
///   receipt, that
///                say why a file in the spool was rejected
///   files/       mode 0700: submitted files, by number
///   jobs/        mode 0700: a folder for each job that is being judged
///   class.db     readable only by the owner, see store.h
class Folder {
 public:
  /// Throws Error(bad_input) unless `root` is a class folder.
  explicit Folder(std::filesystem::path root);

  /// Creates an empty class folder, without class.toml. Throws Error(bad_input) if something is already there.
  static void create(const std::filesystem::path& root);

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path settings() const { return root_ / "class.toml"; }
  std::filesystem::path public_files() const { return root_ / "public"; }
  std::filesystem::path queue() const { return root_ / "public/queue.json"; }
  std::filesystem::path secret(const std::string& assignment) const {
    return root_ / "secret" / (assignment + ".json");
  }
  std::filesystem::path class_secret() const { return root_ / "secret/.class.json"; }  ///< seed of the pseudonyms
  std::filesystem::path rankings() const { return root_ / "public/rankings.json"; }
  std::filesystem::path spool() const { return root_ / "spool"; }
  std::filesystem::path answers() const { return root_ / "answers"; }
  std::filesystem::path answer(const std::string& secret) const { return answers() / (secret + ".json"); }
  std::filesystem::path note(const std::string& receipt) const { return answers() / (receipt + ".txt"); }
  static bool is_note(const std::filesystem::path& answer) { return answer.extension() == ".txt"; }
  std::filesystem::path file(int64_t number, const std::string& name) const;
  std::filesystem::path jobs() const { return root_ / "jobs"; }
  std::filesystem::path database() const { return root_ / "class.db"; }

  /// Returns whether this process runs as the account that created the class.
  bool is_owned() const;

  /// Throws Error(bad_input), which names the command, unless is_owned().
  void require_owned(const std::string& command) const;

 private:
  std::filesystem::path root_;
};

}  // namespace convlab::classroom
