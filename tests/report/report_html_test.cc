// Tests the report's HTML and PNG writers and its embedded files.

#include "convlab/report/html.h"

#include <gtest/gtest.h>

#include <zlib.h>
#include <limits>

#include "convlab/report/embedded.h"
#include "convlab/report/gray_png.h"
#include "tests/support/thrown_errors.h"

namespace convlab {
namespace {

using testing::HasSubstr;

TEST(Html, EscapesWhatHtmlWouldRead) {
  EXPECT_EQ(escaped("<a href=\"x\">'&'</a>"), "&lt;a href=&quot;x&quot;&gt;&#39;&amp;&#39;&lt;/a&gt;");
  EXPECT_EQ(escaped("66×66"), "66×66");
}

TEST(Html, DataUrisAreBase64) {  // the test vectors of RFC 4648
  const auto uri = [](std::string_view text) {
    return data_uri("text/plain", {reinterpret_cast<const uint8_t*>(text.data()), text.size()});
  };
  EXPECT_EQ(uri(""), "data:text/plain;base64,");
  EXPECT_EQ(uri("f"), "data:text/plain;base64,Zg==");
  EXPECT_EQ(uri("fo"), "data:text/plain;base64,Zm8=");
  EXPECT_EQ(uri("foobar"), "data:text/plain;base64,Zm9vYmFy");
  EXPECT_EQ(uri("\xff\xff\xfe"), "data:text/plain;base64,///+");
}

TEST(Html, NumbersHaveFourDigits) {
  EXPECT_EQ(significant(0.0123456), "0.01235");
  EXPECT_EQ(significant(1.5), "1.500");
  EXPECT_EQ(significant(-123.456), "-123.5");
  EXPECT_EQ(significant(98765.4), "98765");
  EXPECT_EQ(significant(0), "0");
  EXPECT_EQ(significant(std::numeric_limits<double>::infinity()), "?");
  EXPECT_EQ(duration(0.0351), "35.10 µs");
  EXPECT_EQ(duration(4.98), "4.980 ms");
  EXPECT_EQ(duration(1770), "1.770 s");
}

TEST(Html, TablesKeepWhatCellsSay) {
  Table table("a <caption>", {"one", "two"});
  EXPECT_TRUE(table.empty());
  table.row({text_cell("<b>"), {.html = "<b>3</b>", .kind = "number", .style = "--share:0.5"}});
  EXPECT_FALSE(table.empty());
  const std::string html = table.html();
  EXPECT_THAT(html, HasSubstr("<caption><span>a &lt;caption&gt;</span></caption>"));
  EXPECT_THAT(html, HasSubstr("<th scope=\"col\" class=\"number\">two</th>"));
  EXPECT_THAT(html, HasSubstr("<td>&lt;b&gt;</td><td class=\"number\" style=\"--share:0.5\"><b>3</b></td>"));
}

uint32_t number_at(const std::vector<uint8_t>& bytes, size_t at) {
  return static_cast<uint32_t>(bytes.at(at) << 24 | bytes.at(at + 1) << 16 | bytes.at(at + 2) << 8 | bytes.at(at + 3));
}

TEST(Png, HoldsThePixels) {
  const std::vector<uint8_t> pixels = {0, 128, 255, 7, 8, 9};
  const std::vector<uint8_t> png = grey_png(pixels, 3, 2);
  ASSERT_GT(png.size(), 8u);
  EXPECT_EQ(std::string(png.begin(), png.begin() + 8), "\x89PNG\r\n\x1a\n");
  std::vector<std::string> chunks;
  std::vector<uint8_t> rows;
  for (size_t at = 8; at < png.size();) {
    const uint32_t size = number_at(png, at);
    const std::string type(png.begin() + static_cast<int64_t>(at) + 4, png.begin() + static_cast<int64_t>(at) + 8);
    EXPECT_EQ(number_at(png, at + 8 + size), crc32(0, png.data() + at + 4, size + 4)) << type;
    if (type == "IHDR") {
      EXPECT_EQ(number_at(png, at + 8), 3u);
      EXPECT_EQ(number_at(png, at + 12), 2u);
    }
    if (type == "IDAT") {
      rows.resize(100);
      uLongf count = rows.size();
      ASSERT_EQ(uncompress(rows.data(), &count, png.data() + at + 8, size), Z_OK);
      rows.resize(count);
    }
    chunks.push_back(type);
    at += size + 12;
  }
  EXPECT_EQ(chunks, (std::vector<std::string>{"IHDR", "IDAT", "IEND"}));
  EXPECT_EQ(rows, (std::vector<uint8_t>{0, 0, 128, 255, 0, 7, 8, 9}));  // each row begins with filter type 0
}

TEST(Png, RefusesPixelsThatAreNoImage) {
  const std::vector<uint8_t> pixels(6);
  EXPECT_THAT(bad_input_message([&] { grey_png(pixels, 4, 2); }), HasSubstr("6 pixels do not match an image of 4x2"));
  EXPECT_THAT(bad_input_message([&] { grey_png({}, 0, 0); }), HasSubstr("0 pixels do not match an image of 0x0"));
}

TEST(Embedded, HasThePageAndEveryKernel) {
  for (const char* name : {"page.html", "style.css", "charts.js", "convlab/kernels/ladder/01_basic.cu",
                           "convlab/kernels/cpu/nchw/cpu_direct.cc", "convlab/kernels/libraries/cudnn.cc"}) {
    EXPECT_GT(embedded_file(name).size(), 200u) << name;
  }
  EXPECT_TRUE(embedded_file("no_such_file").empty());
}

}  // namespace
}  // namespace convlab
