#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace convlab::classroom {

/// The class's folder, and what lies where in it.
///
///   class.toml   what the teacher decides, see settings.h
///   public/      problem texts, shapes, files to begin with; queue.json and rankings.json
///   secret/      0700: a file of seed and shapes for each assignment
///   spool/       03733: submissions that students write, see spool.h
///   answers/     0711: for each student a file named by his secret, see answers.h; and notes, by receipt, why
///                something in the spool was no submission
///   files/       0700: what was handed in, by number
///   jobs/        0700: a folder for each job that is being judged
///   class.db     the owner's alone, see store.h
class Folder {
 public:
  /// Error(bad_input) unless this is a class's folder.
  explicit Folder(std::filesystem::path root);

  /// Makes an empty one, without class.toml. Error(bad_input) where something is there already.
  static void create(const std::filesystem::path& root);

  const std::filesystem::path& root() const { return root_; }
  std::filesystem::path settings() const { return root_ / "class.toml"; }
  std::filesystem::path public_files() const { return root_ / "public"; }
  std::filesystem::path queue() const { return root_ / "public/queue.json"; }
  std::filesystem::path secret(const std::string& assignment) const {
    return root_ / "secret" / (assignment + ".json");
  }
  std::filesystem::path class_secret() const { return root_ / "secret/.class.json"; }  ///< seed of the made-up names
  std::filesystem::path rankings() const { return root_ / "public/rankings.json"; }
  std::filesystem::path spool() const { return root_ / "spool"; }
  std::filesystem::path answers() const { return root_ / "answers"; }
  std::filesystem::path answer(const std::string& secret) const { return answers() / (secret + ".json"); }
  std::filesystem::path note(const std::string& receipt) const { return answers() / (receipt + ".txt"); }
  static bool is_note(const std::filesystem::path& answer) { return answer.extension() == ".txt"; }
  std::filesystem::path file(int64_t number, const std::string& name) const;
  std::filesystem::path jobs() const { return root_ / "jobs"; }
  std::filesystem::path database() const { return root_ / "class.db"; }

  /// This process runs as the account that made the class.
  bool is_owned() const;

  /// Error(bad_input) that names the command unless is_owned().
  void require_owned(const std::string& command) const;

 private:
  std::filesystem::path root_;
};

}  // namespace convlab::classroom
