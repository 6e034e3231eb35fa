# cmake -DFILES=a|b -DOUTPUT=x.cc -P embed.cmake: a C++ source with the files' text, for embedded.h. A file is known by
# its path if that is relative, otherwise by its name.
string(REPLACE "|" ";" FILES "${FILES}")
set(entries "")
foreach(path IN LISTS FILES)
  file(READ "${path}" text)
  set(name "${path}")
  if(IS_ABSOLUTE "${path}")
    get_filename_component(name "${path}" NAME)
  endif()
  string(APPEND entries "    {\"${name}\", R\"~embedded~(${text})~embedded~\"sv},\n")
endforeach()
file(WRITE "${OUTPUT}" "#include \"convlab/report/embedded.h\"

namespace convlab {

std::string_view embedded_file(std::string_view name) {
  using namespace std::string_view_literals;  // whose lengths nobody counts again
  static constexpr struct {
    std::string_view name, text;
  } kFiles[] = {
${entries}  };
  for (const auto& file : kFiles) {
    if (file.name == name) return file.text;
  }
  return {};
}

}  // namespace convlab
")
